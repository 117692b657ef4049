// SPDX-License-Identifier: MIT
#include "torpor/dpm/generator.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "torpor/base/call_text.hpp"
#include "torpor/base/deterministic_math.hpp"
#include "torpor/base/distributions.hpp"
#include "torpor/base/error.hpp"

namespace torpor::dpm {
namespace {

// A class device drawn as parent of another is drawn again with this probability: chains of them are rare.
constexpr double kRedraw = 0.8;
constexpr double kSmallestUs = 0.001;
constexpr double kLargestUs = 1e7;

std::string shortest(double value) {
    std::array<char, 32> digits{};
    return {digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr};
}

void require_real(const std::string& key, double value, double low, double high) {
    if (value >= low && value <= high) return;
    throw ConfigError{
        key, shortest(value) + " is out of range; it must be " + shortest(low) + ".." + shortest(high)};
}

void require_pair(const std::string& key, const std::array<double, 2>& values, double low, double high) {
    require_real(key + "[0]", values[0], low, high);
    require_real(key + "[1]", values[1], low, high);
}

// `+=`, not `+`: g++ 12 warns falsely of an overlapping copy where it inlines the latter.
std::string numbered(std::string_view name, std::size_t number) {
    std::string text{name};
    text += std::to_string(number);
    return text;
}

std::size_t pick(double u, std::size_t count) {
    return std::min(static_cast<std::size_t>(u * static_cast<double>(count)), count - 1);
}

std::int64_t rounded(double value) {
    return to_ns(to_duration(value));
}

class Drawing {
  public:
    Drawing(const Generator& generator, StreamKey key) : g_{generator}, key_{key} {
        const auto devices = static_cast<std::size_t>(g_.devices);
        const auto share = static_cast<std::size_t>(static_cast<double>(devices) / (1.0 + g_.class_ratio));
        firmware_ = std::clamp<std::size_t>(share, 1, devices);
        spec_.devices.resize(devices);
        depth_.resize(firmware_);
    }

    GraphSpec draw() {
        for (std::int64_t i = 1; i <= g_.locks; ++i) {
            spec_.locks.push_back(numbered("lock", static_cast<std::size_t>(i)));
        }
        spec_.devices[0].name = "root";
        spec_.devices[0].no_pm_callbacks = true;
        may_be_parent_.push_back(0);
        for (std::size_t i = 1; i < firmware_; ++i) {
            spec_.devices[i].name = numbered("dev", i);
            place_firmware(i);
            add_callbacks(i, spec_.devices[i].name, g_.p_no_callbacks);
        }
        for (std::size_t i = firmware_; i < spec_.devices.size(); ++i) {
            spec_.devices[i].name = numbered("class", i - firmware_ + 1);
            place_class(i);
            add_callbacks(i, spec_.devices[i].name, g_.class_p_no_callbacks);
        }
        return std::move(spec_);
    }

  private:
    RandomStream stream_of(const char* use, const std::string& device) const {
        return RandomStream{key_, std::string{"dpm/"}.append(use).append("/").append(device)};
    }

    void place_firmware(std::size_t i) {
        RandomStream stream = stream_of("place", spec_.devices[i].name);
        const bool below_root = stream.uniform01() < g_.p_root;
        const double u_parent = stream.uniform01();
        const bool has_links = stream.uniform01() < g_.p_link;
        const double u_more = stream.uniform_open();
        const std::size_t parent = below_root ? 0 : may_be_parent_[pick(u_parent, may_be_parent_.size())];
        spec_.devices[i].parent = spec_.devices[parent].name;
        depth_[i] = depth_[parent] + 1;
        if (depth_[i] < g_.max_depth) may_be_parent_.push_back(i);
        if (!has_links) return;
        std::size_t count = 1;
        if (g_.p_more_links > 0.0) {
            count += static_cast<std::size_t>(deterministic_log(u_more) / deterministic_log(g_.p_more_links));
        }
        std::vector<std::size_t> taken{parent};
        for (std::size_t k = 0; k < count; ++k) {
            const double u = deterministic_exp(g_.skew * deterministic_log(stream.uniform_open()));
            const std::size_t supplier = pick(u, i);
            if (std::find(taken.begin(), taken.end(), supplier) != taken.end()) continue;
            taken.push_back(supplier);
            Link link;
            link.supplier = spec_.devices[supplier].name;
            link.consumer = spec_.devices[i].name;
            link.inferred = true;
            spec_.links.push_back(std::move(link));
        }
    }

    void place_class(std::size_t i) {
        RandomStream stream = stream_of("place", spec_.devices[i].name);
        std::size_t parent = pick(stream.uniform01(), i);
        const bool again = stream.uniform01() < kRedraw;
        if (parent >= firmware_ && again) parent = pick(stream.uniform01(), i);
        spec_.devices[i].parent = spec_.devices[parent].name;
    }

    void add_callbacks(std::size_t i, const std::string& name, double p_no_callbacks) {
        RandomStream stream = stream_of("callbacks", name);
        const bool none = stream.uniform01() < p_no_callbacks;
        const bool late = stream.uniform01() < g_.p_late && i < firmware_;
        if (none) {
            spec_.devices[i].no_pm_callbacks = true;
            return;
        }
        for (std::size_t phase = index_of(Phase::suspend); phase <= index_of(Phase::resume); ++phase) {
            const double u_duration = stream.uniform_open();
            const double u_locked = stream.uniform01();
            const double u_lock = stream.uniform01();
            const bool is_main = phase == index_of(Phase::suspend) || phase == index_of(Phase::resume);
            if (!is_main && !late) continue;
            const std::size_t way = is_suspend_side(static_cast<Phase>(phase)) ? 0 : 1;
            const LogNormal lengths{is_main ? g_.median_us[way] : g_.late_median_us, g_.sigma[way]};
            const double us = std::min(lengths.quantile(u_duration), g_.cap_us);
            auto segments = split(rounded(us * 1000.0), way);
            if (u_locked < g_.lock_share[way] && !segments.empty()) {
                const auto lock = static_cast<std::int64_t>(pick(u_lock, static_cast<std::size_t>(g_.locks)));
                segments.insert(segments.begin(), {SegmentKind::lock, lock, 0});
                segments.push_back({SegmentKind::unlock, lock, 0});
            }
            spec_.devices[i].empty_callbacks[phase] = segments.empty();
            spec_.devices[i].callbacks[phase] = std::move(segments);
        }
    }

    // No part is lost to rounding: the chunks add up to `total`.
    std::vector<Segment> split(std::int64_t total, std::size_t way) const {
        std::vector<Segment> segments;
        std::int64_t begin = 0;
        for (std::int64_t chunk = 1; chunk <= g_.chunks; ++chunk) {
            const std::int64_t end = total * chunk / g_.chunks;
            const std::int64_t length = end - begin;
            begin = end;
            const std::int64_t cpu = rounded(static_cast<double>(length) * g_.cpu_share[way]);
            const std::int64_t fixed = rounded(static_cast<double>(cpu) * g_.fixed_share);
            if (cpu > 0) segments.push_back({SegmentKind::cpu, cpu - fixed, fixed});
            if (length > cpu) segments.push_back({SegmentKind::sleep, length - cpu, 0});
        }
        return segments;
    }

    const Generator& g_;
    StreamKey key_;
    std::size_t firmware_{1};
    GraphSpec spec_;
    std::vector<std::int64_t> depth_;
    std::vector<std::size_t> may_be_parent_;
};

}  // namespace

void validate(const Generator& g) {
    require_range("devices", g.devices, 1, static_cast<std::int64_t>(kMaxDevices));
    require_real("class_ratio", g.class_ratio, 0.0, 1000.0);
    require_range("max_depth", g.max_depth, 1, static_cast<std::int64_t>(kMaxDevices));
    require_real("p_root", g.p_root, 0.0, 1.0);
    require_real("p_link", g.p_link, 0.0, 1.0);
    require_real("p_more_links", g.p_more_links, 0.0, 0.99);
    require_real("skew", g.skew, 0.0, 100.0);
    require_real("p_no_callbacks", g.p_no_callbacks, 0.0, 1.0);
    require_real("class_p_no_callbacks", g.class_p_no_callbacks, 0.0, 1.0);
    require_real("p_late", g.p_late, 0.0, 1.0);
    require_pair("median_us", g.median_us, kSmallestUs, kLargestUs);
    require_pair("sigma", g.sigma, 0.0, 10.0);
    require_real("cap_us", g.cap_us, kSmallestUs, kLargestUs);
    require_real("late_median_us", g.late_median_us, kSmallestUs, kLargestUs);
    require_pair("cpu_share", g.cpu_share, 0.0, 1.0);
    require_real("fixed_share", g.fixed_share, 0.0, 1.0);
    require_range("chunks", g.chunks, 1, kMaxChunks);
    require_range("locks", g.locks, 1, kMaxLocks);
    require_pair("lock_share", g.lock_share, 0.0, 1.0);
}

GraphSpec generate(const Generator& generator, StreamKey key) {
    validate(generator);
    return Drawing{generator, key}.draw();
}

}  // namespace torpor::dpm
