// SPDX-License-Identifier: MIT
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "distribution.hpp"

namespace {

using namespace torpor;

AnyDistribution of_quantiles(const std::vector<std::pair<double, double>>& points) {
    std::vector<QuantilePoint> table;
    for (const auto& [p, value] : points) table.push_back({p, value});
    return {Empirical::of_quantiles(table)};
}

}  // namespace

void bind_distributions(py::module_& module) {
    py::class_<AnyDistribution>(module, "Distribution", "What an entry is drawn from; times in nanoseconds.")
        .def_static(
            "constant", [](double value) { return AnyDistribution{Constant{value}}; }, py::arg("value"))
        .def_static(
            "uniform",
            [](double low, double high) {
                return AnyDistribution{Uniform{low, high}};
            },
            py::kw_only(), py::arg("low"), py::arg("high"))
        .def_static(
            "exponential", [](double mean) { return AnyDistribution{Exponential{mean}}; }, py::kw_only(),
            py::arg("mean"))
        .def_static(
            "normal",
            [](double mean, double deviation) {
                return AnyDistribution{Normal{mean, deviation}};
            },
            py::kw_only(), py::arg("mean"), py::arg("deviation"))
        .def_static(
            "lognormal",
            [](double median, double sigma) {
                return AnyDistribution{LogNormal{median, sigma}};
            },
            py::kw_only(), py::arg("median"), py::arg("sigma"))
        .def_static(
            "pareto",
            [](double scale, double shape) {
                return AnyDistribution{Pareto{scale, shape}};
            },
            py::kw_only(), py::arg("scale"), py::arg("shape"))
        .def_static(
            "empirical",
            [](const std::vector<double>& samples) {
                return AnyDistribution{Empirical::of_samples(samples)};
            },
            py::arg("samples"))
        .def_static("empirical_quantiles", &of_quantiles, py::arg("points"), "points: pairs (share, value).")
        .def(py::self == py::self);
}
