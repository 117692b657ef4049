# Flags that every target of ours gets. Floating point is never contracted: a fused multiply-add on one machine and
# two roundings on another would break the promise of identical results everywhere.
function(torpor_target name)
  target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -ffp-contract=off)
  if(TORPOR_WERROR)
    target_compile_options(${name} PRIVATE -Werror)
  endif()
  if(TORPOR_SANITIZE)
    target_compile_options(${name} PRIVATE -fsanitize=${TORPOR_SANITIZE} -fno-omit-frame-pointer)
    target_link_options(${name} PUBLIC -fsanitize=${TORPOR_SANITIZE})
  endif()
endfunction()

# One static library per folder of cpp/torpor. DEPENDS names the folders that it may include; anything else fails to link.
function(torpor_library folder)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(torpor_${folder} STATIC ${ARG_SOURCES})
  target_include_directories(torpor_${folder} PUBLIC ${PROJECT_SOURCE_DIR}/cpp)
  foreach(dependency IN LISTS ARG_DEPENDS)
    target_link_libraries(torpor_${folder} PUBLIC torpor_${dependency})
  endforeach()
  torpor_target(torpor_${folder})
endfunction()
