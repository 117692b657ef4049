// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <vector>

#include "pybind.hpp"
#include "torpor/base/random.hpp"
#include "torpor/engine/timeline.hpp"

// What every family's results need on their way to NumPy.

/// Results as blocks, one row per replicate; they become NumPy arrays.
template <class T>
using Block = Eigen::Array<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class T>
using Column = Eigen::Array<T, Eigen::Dynamic, 1>;
using Eigen::Index;

/// The results of one call, at least one.
template <class Result>
class ResultColumns {
  public:
    explicit ResultColumns(const std::vector<Result>& results)
        : results_{results}, runs_{static_cast<Index>(results.size())} {}

    Index runs() const { return runs_; }
    const Result& at(Index run) const { return results_[static_cast<std::size_t>(run)]; }

    /// get(result); shape (runs,).
    template <class T, class Get>
    Column<T> per_run(Get get) const {
        return Column<T>::NullaryExpr(runs_, [&](Index run) { return get(at(run)); });
    }

    /// get(result, item); shape (runs, items).
    template <class T, class Get>
    Block<T> per_item(std::size_t items, Get get) const {
        return Block<T>::NullaryExpr(runs_, static_cast<Index>(items), [&](Index run, Index item) {
            return get(at(run), static_cast<std::size_t>(item));
        });
    }

    /// get(result, item, part); shape (runs, items, parts).
    template <class T, class Get>
    py::object per_part(std::size_t items, std::size_t parts, Get get) const {
        const auto rows = static_cast<Index>(items);
        const auto columns = static_cast<Index>(parts);
        const Block<T> block = Block<T>::NullaryExpr(runs_ * rows, columns, [&](Index row, Index part) {
            return get(at(row / rows), static_cast<std::size_t>(row % rows), static_cast<std::size_t>(part));
        });
        return py::cast(block).attr("reshape")(runs_, rows, columns);
    }

  private:
    const std::vector<Result>& results_;
    Index runs_;
};

/// Everything that a model told, with its lanes as CPUs: 'time_ns', 'cpu', 'kind', 'value'.
inline py::dict timeline_columns(const torpor::engine::VectorSink& sink) {
    const std::vector<torpor::engine::TimelineRecord>& records = sink.records();
    const auto count = static_cast<Index>(records.size());
    const auto column = [&]<class T>(T, auto get) {
        return Column<T>::NullaryExpr(count,
                                      [&](Index i) { return get(records[static_cast<std::size_t>(i)]); })
            .eval();
    };
    py::dict out;
    out["time_ns"] = column(std::int64_t{}, [](const auto& record) { return torpor::to_ns(record.at); });
    out["cpu"] = column(std::int32_t{}, [](const auto& record) { return record.lane; });
    out["kind"] = column(std::uint16_t{}, [](const auto& record) { return record.kind; });
    out["value"] = column(std::int64_t{}, [](const auto& record) { return record.value; });
    return out;
}

/// A model that tells a sink what happens.
template <class Model>
struct WatchedModel {
    Model model;
    torpor::engine::TimelineSink* sink;

    auto run(torpor::StreamKey key, const std::stop_token& stop) { return model.run(key, stop, sink); }
};
