// SPDX-License-Identifier: MIT
//
// What one decision costs: select, the idle core's bookkeeping and reflect, for every governor, on the
// lognormal sequences of the golden vectors (tests/golden/idle; TORPOR_GOLDEN_DIR names another place).
// Nothing is timed before its answers are right: equal to the golden columns where the vectors have them,
// else to what the open-loop driver answers.
//
// Each iteration starts a fresh governor and runs the same 2,000 decisions; `per_pair` is the figure to read.
// Branch predictors learn part of so short a sequence: on inputs that never repeat a pair takes up to twice
// as long.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "torpor/idle/decisions.hpp"
#include "torpor/idle/with_governor.hpp"

namespace {

namespace idle = torpor::idle;

std::filesystem::path golden_folder() {
    if (const char* folder = std::getenv("TORPOR_GOLDEN_DIR")) return folder;
    return std::filesystem::path{__FILE__}.parent_path() / ".." / ".." / "tests" / "golden" / "idle";
}

/// Text of a file; a .gz is unpacked by the gzip of the system, so that the benchmarks need no library for
/// it.
std::string read_text(const std::filesystem::path& path) {
    if (!std::filesystem::exists(path)) throw std::runtime_error{path.string() + ": no such file"};
    const std::string command = (path.extension() == ".gz" ? "gzip -dc '" : "cat '") + path.string() + "'";
    std::FILE* pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) throw std::runtime_error{path.string() + ": cannot be read"};
    std::string text;
    std::vector<char> block(1 << 16);
    for (std::size_t n; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;)
        text.append(block.data(), n);
    if (pclose(pipe) != 0) throw std::runtime_error{path.string() + ": cannot be unpacked"};
    return text;
}

using Row = std::map<std::string, std::string, std::less<>>;

std::vector<std::string> split(std::string_view line) {
    std::vector<std::string> cells;
    for (;;) {
        const auto comma = line.find(',');
        cells.emplace_back(line.substr(0, comma));
        if (comma == std::string_view::npos) return cells;
        line.remove_prefix(comma + 1);
    }
}

std::vector<Row> read_csv(const std::filesystem::path& path) {
    const std::string text = read_text(path);
    std::vector<std::string> header;
    std::vector<Row> rows;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        const auto cells = split(std::string_view{text}.substr(start, end - start));
        start = end + 1;
        if (header.empty()) {
            header = cells;
            continue;
        }
        Row row;
        for (std::size_t i = 0; i < header.size(); ++i) row[header[i]] = cells.at(i);
        rows.push_back(std::move(row));
    }
    return rows;
}

struct Decision {
    idle::SelectInput input;
    std::uint64_t residency_ns;
    std::int64_t reflect_ns;
    std::int32_t entered;
    bool tick_wakeup;
    bool poll_limit_hit;
};

struct Sequence {
    std::string name;
    idle::StateTable table;
    idle::TickLength tick;
    std::vector<Row> rows;
    std::vector<Decision> decisions;
};

std::vector<Sequence> read_lognormal() {
    const auto folder = golden_folder();
    std::map<std::string, std::vector<idle::GovernorState>> tables;
    for (const Row& row : read_csv(folder / "tables.csv")) {
        tables[row.at("table")].push_back({std::stoll(row.at("exit_latency_us")) * 1000,
                                           std::stoll(row.at("target_residency_us")) * 1000,
                                           row.at("polling") == "1"});
    }
    std::vector<Sequence> sequences;
    for (const Row& row : read_csv(folder / "sequences.csv")) {
        if (row.at("family") != "lognormal" || row.at("mods") != "0") continue;
        Sequence sequence{row.at("sequence"),
                          idle::StateTable{tables.at(row.at("table"))},
                          idle::TickLength{std::stoi(row.at("hz"))},
                          read_csv(folder / (row.at("sequence") + ".csv.gz")),
                          {}};
        std::int64_t now_ns = 0;
        for (const Row& cells : sequence.rows) {
            const auto number = [&cells](const char* column) { return std::stoll(cells.at(column)); };
            Decision decision{};
            decision.input = {number("sleep_ns"),
                              number("tick_ns"),
                              now_ns,
                              number("lat_us"),
                              static_cast<std::uint32_t>(number("iowait")),
                              static_cast<std::uint32_t>(number("load")),
                              static_cast<std::uint32_t>(number("dis")),
                              number("stopped") != 0};
            now_ns += number("span_ns");
            decision.reflect_ns = now_ns;
            decision.residency_ns = std::stoull(cells.at("resid_ns"));
            decision.entered = static_cast<std::int32_t>(number("enter"));
            decision.tick_wakeup = number("got_tick") != 0;
            decision.poll_limit_hit = number("poll_to") != 0;
            sequence.decisions.push_back(decision);
        }
        sequences.push_back(std::move(sequence));
    }
    return sequences;
}

/// The timed loop; `note` sees each answer.
template <idle::Governor G, class Note>
void run(G governor, const Sequence& sequence, Note&& note) {
    idle::Device device;
    for (const Decision& decision : sequence.decisions) {
        const idle::Selection selection = governor.select(decision.input, device);
        note(selection);
        if (decision.entered == idle::kEnterRefused) {
            idle::refuse_entry(device);
            continue;
        }
        idle::finish_period(governor, device, sequence.table,
                            decision.entered >= 0 ? decision.entered : selection.state, decision.residency_ns,
                            decision.tick_wakeup, decision.poll_limit_hit, decision.reflect_ns);
    }
}

/// What the answers must be: the golden columns of `key`, or the open-loop driver's answers where there is no
/// key.
std::vector<idle::Selection> expected_answers(const idle::Policy& policy, const std::string& key,
                                              const Sequence& sequence) {
    std::vector<idle::Selection> expected;
    if (!key.empty()) {
        for (const Row& row : sequence.rows) {
            const auto stop = row.find(key + "_stop");
            expected.push_back({std::stoi(row.at(key + "_idx")), stop == row.end() || stop->second == "1"});
        }
        return expected;
    }
    const std::size_t n = sequence.decisions.size();
    std::vector<std::int64_t> sleep(n), event(n), limit(n), span(n);
    std::vector<std::uint32_t> iowait(n), load(n), disabled(n);
    std::vector<std::uint64_t> residency(n);
    std::vector<std::uint8_t> stopped(n), tick(n), poll(n), stop(n);
    std::vector<std::int32_t> entered(n), state(n);
    for (std::size_t i = 0; i < n; ++i) {
        const Decision& decision = sequence.decisions[i];
        sleep[i] = decision.input.sleep_length_ns;
        event[i] = decision.input.next_event_ns;
        stopped[i] = decision.input.tick_stopped;
        limit[i] = decision.input.latency_limit_us;
        iowait[i] = decision.input.iowait;
        load[i] = decision.input.load;
        disabled[i] = decision.input.disabled;
        span[i] = decision.reflect_ns - decision.input.now_ns;
        residency[i] = decision.residency_ns;
        tick[i] = decision.tick_wakeup;
        poll[i] = decision.poll_limit_hit;
        entered[i] = decision.entered;
    }
    idle::decide(policy, sequence.table, sequence.tick,
                 {sleep, event, stopped, limit, iowait, load, disabled, span, residency, tick, poll, entered},
                 {state, stop});
    for (std::size_t i = 0; i < n; ++i) expected.push_back({state[i], stop[i] != 0});
    return expected;
}

void select_and_reflect(benchmark::State& state, const idle::Policy& policy, const std::string& key,
                        const Sequence& sequence) {
    idle::with_governor(policy, sequence.table, sequence.tick, [&](const auto& fresh) {
        std::vector<idle::Selection> answers;
        run(fresh, sequence, [&answers](idle::Selection selection) { answers.push_back(selection); });
        if (answers != expected_answers(policy, key, sequence)) {
            state.SkipWithError("answers differ from the expected ones");
            return;
        }
        for (auto _ : state) {
            int sum = 0;
            run(fresh, sequence,
                [&sum](idle::Selection selection) { sum += 2 * selection.state + selection.stop_tick; });
            benchmark::DoNotOptimize(sum);
        }
        const auto pairs =
            static_cast<double>(sequence.decisions.size()) * static_cast<double>(state.iterations());
        state.counters["per_pair"] =
            benchmark::Counter{pairs, benchmark::Counter::kIsRate | benchmark::Counter::kInvert};
        state.SetItemsProcessed(static_cast<std::int64_t>(pairs));
    });
}

/// haltpoll works only on a table with a polling state.
bool fits(const idle::Policy& policy, const idle::StateTable& table) {
    return !std::holds_alternative<idle::Haltpoll>(policy) || table.polling(0);
}

struct Subject {
    const char* policy;
    const char* golden_key;  // empty: the vectors do not have it
};

constexpr Subject kSubjects[] = {
    {"menu(version=4.18)", "m418"},
    {"menu(version=4.18+P1)", ""},
    {"menu(version=4.18+P2)", ""},
    {"menu(version=4.18+rjw-reply)", ""},
    {"menu(version=4.18+leo-reply)", ""},
    {"menu(version=4.19)", "m41820"},
    {"menu(version=4.20)", ""},
    {"menu(version=5.4)", ""},
    {"menu(version=6.1)", ""},
    {"menu(version=6.1.192)", "m61"},
    {"menu(version=6.12.117)", "m612"},
    {"menu(version=7.0)", ""},
    {"menu(version=7.1)", "mnew"},
    {"teo(version=5.5)", ""},
    {"teo(version=6.1)", "t61"},
    {"teo(version=6.12.117)", "t612"},
    {"teo(version=7.1)", "tnew"},
    {"ladder(version=6.1)", "l61"},
    {"haltpoll()", ""},
    {"fixed(state=1)", ""},
};

}  // namespace

int main(int argc, char** argv) {
    benchmark::Initialize(&argc, argv);
    if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
    try {
        const auto sequences = std::make_shared<const std::vector<Sequence>>(read_lognormal());
        for (const Subject& subject : kSubjects) {
            const idle::Policy policy = idle::parse_policy(subject.policy);
            for (std::size_t i = 0; i < sequences->size(); ++i) {
                if (!fits(policy, (*sequences)[i].table)) continue;
                const std::string name = std::string{subject.policy} + "/" + (*sequences)[i].name;
                benchmark::RegisterBenchmark(name.c_str(), [policy = idle::parse_policy(subject.policy),
                                                            key = std::string{subject.golden_key}, sequences,
                                                            i](benchmark::State& state) {
                    select_and_reflect(state, policy, key, (*sequences)[i]);
                });
            }
        }
    } catch (const std::exception& error) {
        std::fprintf(stderr, "governor_bench: %s\n", error.what());
        return 1;
    }
    benchmark::RunSpecifiedBenchmarks();
    benchmark::Shutdown();
    return 0;
}
