// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "pybind.hpp"
#include "torpor/replicate/crew.hpp"

/// Runs many replicates for Python: `run(progress)` is called without the GIL, with the replicate::Progress
/// that it must hand to run_replicates, and its result is returned.
///
/// About ten times a second and at the end that callback takes the GIL, looks for signals and calls
/// `progress(done, total)` unless it is None. Ctrl-C becomes KeyboardInterrupt and an exception of `progress`
/// is passed on, both after the workers have stopped; when `progress` answers False, the call ends with
/// Cancelled.
template <class Run>
auto call_replicates(const py::object& progress, const Run& run) {
    const torpor::replicate::Progress callback = [&progress](std::int64_t done, std::int64_t total) {
        const py::gil_scoped_acquire gil;
        if (PyErr_CheckSignals() != 0) {
            throw py::error_already_set();
        }
        return progress.is_none() || !progress(done, total).is(py::bool_(false));
    };
    const py::gil_scoped_release no_gil;
    return run(callback);
}
