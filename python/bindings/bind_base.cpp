// SPDX-License-Identifier: MIT
#include <cstddef>
#include <cstdint>
#include <exception>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings.hpp"
#include "replicate_call.hpp"
#include "torpor/base/distributions.hpp"
#include "torpor/base/error.hpp"
#include "torpor/base/policy_info.hpp"
#include "torpor/base/random.hpp"
#include "torpor/base/stable_hash.hpp"
#include "torpor/base/version.hpp"
#include "torpor/replicate/replicate.hpp"

namespace {

using namespace torpor;

// The Python types of the error tree, kept for as long as the interpreter lives.
struct ErrorTypes {
    py::object error, config, model, cancelled, internal;
};

PYBIND11_CONSTINIT py::gil_safe_call_once_and_store<ErrorTypes> error_types;

py::object make_error(const py::module_& module, const char* name, const py::object& bases, const char* doc,
                      const py::dict& members = {}) {
    const std::string full_name = py::cast<std::string>(module.attr("__name__")) + "." + name;
    PyObject* type = PyErr_NewExceptionWithDoc(full_name.c_str(), doc, bases.ptr(), members.ptr());
    if (type == nullptr) {
        throw py::error_already_set();
    }
    return py::reinterpret_steal<py::object>(type);
}

ErrorTypes make_error_types(const py::module_& module) {
    const auto builtin = [](PyObject* type) { return py::reinterpret_borrow<py::object>(type); };
    ErrorTypes types;
    types.error = make_error(module, "Error", builtin(PyExc_RuntimeError), "Root of every error of torpor.");
    py::dict members;
    members["key"] = "";
    types.config =
        make_error(module, "ConfigError", py::make_tuple(types.error, builtin(PyExc_ValueError)),
                   "A parameter, a board or an input that cannot be used; `key` is the path of the entry, "
                   "empty when there is none.",
                   members);
    types.model = make_error(module, "ModelError", types.error, "The simulated system cannot go on.");
    types.cancelled =
        make_error(module, "Cancelled", types.error, "A run was asked to stop and its work is gone.");
    types.internal = make_error(module, "InternalError", types.error, "A bug of torpor.");
    return types;
}

void translate(std::exception_ptr pointer) {
    const ErrorTypes& types = error_types.get_stored();
    try {
        std::rethrow_exception(pointer);
    } catch (const ConfigError& error) {
        const py::object value = types.config(error.what());
        value.attr("key") = error.key();
        PyErr_SetObject(types.config.ptr(), value.ptr());
    } catch (const ModelError& error) {
        PyErr_SetString(types.model.ptr(), error.what());
    } catch (const Cancelled& error) {
        PyErr_SetString(types.cancelled.ptr(), error.what());
    } catch (const InternalError& error) {
        PyErr_SetString(types.internal.ptr(), error.what());
    } catch (const Error& error) {
        PyErr_SetString(types.error.ptr(), error.what());
    }
}

void bind_errors(py::module_& module) {
    const ErrorTypes& types =
        error_types.call_once_and_store_result([&module] { return make_error_types(module); }).get_stored();
    module.attr("Error") = types.error;
    module.attr("ConfigError") = types.config;
    module.attr("ModelError") = types.model;
    module.attr("Cancelled") = types.cancelled;
    module.attr("InternalError") = types.internal;
    py::register_exception_translator(&translate);
}

// A stream that remembers its name, so that it can be shown, compared and pickled.
struct NamedStream {
    NamedStream(std::string name, std::uint64_t seed, std::uint64_t replicate, std::uint64_t position)
        : consumer{std::move(name)}, key{seed, replicate}, stream{key, consumer} {
        stream.seek(position);
    }
    bool operator==(const NamedStream& other) const {
        return consumer == other.consumer && key == other.key && stream.position() == other.stream.position();
    }
    std::string consumer;
    StreamKey key;
    RandomStream stream;
};

// `size` draws as an array of shape (size,).
template <class Draw>
auto draws(std::int64_t size, const Draw& draw) {
    if (size < 0) {
        throw ConfigError{"size", std::to_string(size), "must be at least 0"};
    }
    py::array_t<decltype(draw())> values(size);
    auto view = values.template mutable_unchecked<1>();
    for (py::ssize_t i = 0; i < size; ++i) {
        view(i) = draw();
    }
    return values;
}

template <class D>
auto samples_of(NamedStream& self, std::int64_t size, const D& distribution) {
    return draws(size, [&] { return sample(distribution, self.stream); });
}

void bind_random_stream(py::module_& module) {
    py::class_<NamedStream>(module, "RandomStream",
                            "Random numbers of one consumer in one replicate: Philox-4x32-10, found by name.")
        .def(py::init<std::string, std::uint64_t, std::uint64_t, std::uint64_t>(), py::arg("consumer"),
             py::kw_only(), py::arg("seed"), py::arg("replicate") = 0, py::arg("position") = 0)
        .def_readonly("consumer", &NamedStream::consumer)
        .def_property_readonly("seed", [](const NamedStream& self) { return self.key.seed; })
        .def_property_readonly("replicate", [](const NamedStream& self) { return self.key.replicate; })
        .def_property_readonly(
            "position", [](const NamedStream& self) { return self.stream.position(); },
            "32-bit words drawn so far.")
        .def(
            "uint32",
            [](NamedStream& self, std::int64_t size) {
                return draws(size, [&] { return self.stream.next_u32(); });
            },
            py::arg("size"))
        .def(
            "uint64",
            [](NamedStream& self, std::int64_t size) {
                return draws(size, [&] { return self.stream.next_u64(); });
            },
            py::arg("size"))
        .def(
            "uniform01",
            [](NamedStream& self, std::int64_t size) {
                return draws(size, [&] { return self.stream.uniform01(); });
            },
            py::arg("size"), "In [0, 1), multiples of 2^-53.")
        .def(
            "uniform_open",
            [](NamedStream& self, std::int64_t size) {
                return draws(size, [&] { return self.stream.uniform_open(); });
            },
            py::arg("size"), "In (0, 1); what every distribution below puts into its quantile function.")
        .def(
            "integers",
            [](NamedStream& self, std::int64_t size, std::int64_t low, std::int64_t high) {
                return draws(size, [&, range = UniformInt{low, high}] { return range(self.stream); });
            },
            py::arg("size"), py::kw_only(), py::arg("low"), py::arg("high"), "low .. high, both included.")
        .def(
            "uniform",
            [](NamedStream& self, std::int64_t size, double low, double high) {
                return samples_of(self, size, Uniform{low, high});
            },
            py::arg("size"), py::kw_only(), py::arg("low"), py::arg("high"))
        .def(
            "exponential",
            [](NamedStream& self, std::int64_t size, double mean) {
                return samples_of(self, size, Exponential{mean});
            },
            py::arg("size"), py::kw_only(), py::arg("mean"))
        .def(
            "normal",
            [](NamedStream& self, std::int64_t size, double mean, double deviation) {
                return samples_of(self, size, Normal{mean, deviation});
            },
            py::arg("size"), py::kw_only(), py::arg("mean"), py::arg("deviation"))
        .def(
            "lognormal",
            [](NamedStream& self, std::int64_t size, double median, double sigma) {
                return samples_of(self, size, LogNormal{median, sigma});
            },
            py::arg("size"), py::kw_only(), py::arg("median"), py::arg("sigma"))
        .def(
            "pareto",
            [](NamedStream& self, std::int64_t size, double scale, double shape) {
                return samples_of(self, size, Pareto{scale, shape});
            },
            py::arg("size"), py::kw_only(), py::arg("scale"), py::arg("shape"))
        .def(
            "empirical",
            [](NamedStream& self, std::int64_t size, const std::vector<double>& samples) {
                return samples_of(self, size, Empirical::of_samples(samples));
            },
            py::arg("size"), py::kw_only(), py::arg("samples"))
        .def(
            "empirical_quantiles",
            [](NamedStream& self, std::int64_t size, const std::vector<std::pair<double, double>>& points) {
                std::vector<QuantilePoint> table;
                for (const auto& [p, value] : points) {
                    table.push_back({p, value});
                }
                return samples_of(self, size, Empirical::of_quantiles(table));
            },
            py::arg("size"), py::kw_only(), py::arg("points"), "points: pairs (share, value).")
        .def(py::self == py::self)
        .def("__repr__",
             [](const NamedStream& self) {
                 return py::str("RandomStream({!r}, seed={}, replicate={}, position={})")
                     .format(self.consumer, self.key.seed, self.key.replicate, self.stream.position());
             })
        .def(py::pickle(
            [](const NamedStream& self) {
                return py::make_tuple(self.consumer, self.key.seed, self.key.replicate,
                                      self.stream.position());
            },
            [](const py::tuple& state) {
                return NamedStream{state[0].cast<std::string>(), state[1].cast<std::uint64_t>(),
                                   state[2].cast<std::uint64_t>(), state[3].cast<std::uint64_t>()};
            }));
}

// The smallest model there is: the mean of some uniform draws. It shows what the replicate layer does without
// a family.
class UniformMean {
  public:
    explicit UniformMean(std::int64_t draws) : draws_{draws} {}

    double run(StreamKey key, const std::stop_token& stop) const {
        constexpr std::int64_t kDrawsPerLook = 4096;
        RandomStream stream{key, "uniform"};
        double sum = 0.0;
        for (std::int64_t i = 0; i < draws_; ++i) {
            if (i % kDrawsPerLook == 0 && stop.stop_requested()) {
                throw Cancelled{"the run was asked to stop"};
            }
            sum += stream.uniform01();
        }
        return sum / static_cast<double>(draws_);
    }

  private:
    std::int64_t draws_;
};

py::array_t<double> uniform_means(std::int64_t replicates, std::int64_t size, std::uint64_t seed,
                                  std::int64_t first, int threads, const py::object& progress) {
    if (size < 1) {
        throw ConfigError{"draws", std::to_string(size), "must be at least 1"};
    }
    const replicate::Request request{
        .first = first, .replicates = replicates, .threads = threads, .seed = seed};
    const std::vector<double> means = call_replicates(progress, [&](const replicate::Progress& callback) {
        return replicate::run_replicates([size] { return UniformMean{size}; }, request, callback);
    });
    return py::array_t<double>(static_cast<py::ssize_t>(means.size()), means.data());
}

void bind_policy_infos(py::module_& module) {
    py::class_<ParameterInfo>(module, "ParameterInfo", "One parameter of a policy.")
        .def_readonly("name", &ParameterInfo::name)
        .def_readonly("default_value", &ParameterInfo::default_value, "Empty when it must be given.")
        .def_readonly("description", &ParameterInfo::description)
        .def("__repr__", [](const ParameterInfo& self) {
            return py::str("<ParameterInfo {}{}{}>")
                .format(self.name, self.default_value.empty() ? "" : "=", self.default_value);
        });
    py::class_<PolicyInfo>(module, "PolicyInfo", "What is known of one policy.")
        .def_readonly("name", &PolicyInfo::name)
        .def_readonly("description", &PolicyInfo::description)
        .def_readonly("source", &PolicyInfo::source)
        .def_readonly("bound", &PolicyInfo::bound, "True for what no kernel can be or do.")
        .def_readonly("versions", &PolicyInfo::versions)
        .def_readonly("parameters", &PolicyInfo::parameters)
        .def("__repr__", [](const PolicyInfo& self) {
            std::string names;
            for (const ParameterInfo& parameter : self.parameters) {
                names += (names.empty() ? "" : ", ") + parameter.name;
            }
            return py::str("<PolicyInfo {}({})>").format(self.name, names);
        });
}

}  // namespace

void bind_base(py::module_& module) {
    module.attr("__version__") = std::string{kVersion};
    module.attr("__compiler__") = std::string{kCompiler};
    bind_errors(module);
    bind_random_stream(module);
    bind_policy_infos(module);
    module.def(
        "stable_hash", [](const py::bytes& bytes) { return stable_hash(std::string_view{bytes}); },
        py::arg("bytes"), "The 64-bit hash that names random streams, the same in every version.");
    module.def("uniform_means", &uniform_means, py::arg("replicates"), py::kw_only(), py::arg("draws"),
               py::arg("seed"), py::arg("first") = 0, py::arg("threads") = 0,
               py::arg("progress") = py::none(),
               "Mean of so many uniform draws in each replicate, shape (replicates,).");
}
