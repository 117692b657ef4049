// SPDX-License-Identifier: MIT
#pragma once

// The only door to pybind11, so that every translation unit sees the same set of casters.
#include <pybind11/eigen.h>
#include <pybind11/native_enum.h>
#include <pybind11/numpy.h>
#include <pybind11/operators.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;
