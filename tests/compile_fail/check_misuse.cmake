# cmake -D COMPILER=... -D SOURCE=... -D INCLUDE=... -P check_misuse.cmake
function(refuse reason)
  message(NOTICE "${output}")
  message(NOTICE "${SOURCE}: ${reason}")  # not in the fatal message, which would be wrapped
  message(FATAL_ERROR "misuse check failed")
endfunction()

set(command ${COMPILER} -std=c++20 -fsyntax-only -I${INCLUDE} ${SOURCE})

execute_process(COMMAND ${command} RESULT_VARIABLE status ERROR_VARIABLE output)
if(NOT status EQUAL 0)
  refuse("it does not compile even without the misuse")
endif()

execute_process(COMMAND ${command} -DMISUSE RESULT_VARIABLE status ERROR_VARIABLE output)
if(status EQUAL 0)
  refuse("the misuse compiles")
endif()

file(STRINGS ${SOURCE} lines)
set(number 0)
set(misuse_line 0)
foreach(line IN LISTS lines)
  math(EXPR number "${number} + 1")
  if(line MATCHES "^#ifdef MISUSE")
    math(EXPR misuse_line "${number} + 1")
  endif()
endforeach()
get_filename_component(file ${SOURCE} NAME)
if(NOT output MATCHES "${file}:${misuse_line}:[0-9]+: error:")
  refuse("the error is not about line ${misuse_line}")
endif()
