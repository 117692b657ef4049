// SPDX-License-Identifier: MIT
// When a phase skips the callback of a device, and what it does to those above it.
#include <gtest/gtest.h>

#include "worlds.hpp"

namespace torpor::dpm {
namespace {

constexpr const char* kBoth =
    "suspend: K P; suspend_late: K P; suspend_noirq: K P; "
    "resume_noirq: P K; resume_early: P K; resume: P K; ";

/// P, with callbacks everywhere, and its child K.
struct Family {
    Family() : spec{in_list_order({called("P"), called("K", "P")})} {}

    DeviceSpec& parent() { return spec.devices[0]; }
    DeviceSpec& child() { return spec.devices[1]; }
    /// What is called between prepare and complete, whatever the order.
    std::string calls() const {
        std::string first;
        for (const std::string& policy : policies()) {
            const Ran ran{reference_scenario(compiled(spec), 2), policy};
            EXPECT_EQ(ran.cycle().outcome, Outcome::done);
            std::string text;
            for (const Phase phase : kMiddle) {
                const std::string names = ran.calls(phase);
                if (!names.empty()) text.append(name_of(phase)).append(": ").append(names).append("; ");
            }
            if (policy == "sync") first = text;
            EXPECT_EQ(text, first) << policy;
        }
        return first;
    }

    GraphSpec spec;
};

/// A device that asks in prepare to be left as it is.
void ask(DeviceSpec& device, RuntimeStatus status) {
    device.prepare_result = PrepareResult::direct_complete;
    device.runtime_status = status;
}

TEST(DirectComplete, SkipsAllSixPhasesOfADeviceThatIsSuspended) {
    Family family;
    ask(family.child(), RuntimeStatus::suspended);
    EXPECT_EQ(family.calls(),
              "suspend: P; suspend_late: P; suspend_noirq: P; resume_noirq: P; resume_early: P; "
              "resume: P; ");
}

TEST(DirectComplete, CountsNeverHavingEnabledRuntimePmAsSuspended) {
    Family family;
    ask(family.parent(), RuntimeStatus::unsupported);
    ask(family.child(), RuntimeStatus::unsupported);
    EXPECT_EQ(family.calls(), "");
}

TEST(DirectComplete, IsNotForADeviceThatIsActive) {
    Family family;
    ask(family.child(), RuntimeStatus::active);
    EXPECT_EQ(family.calls(), kBoth);
}

TEST(DirectComplete, IsNotForADeviceThatDoesNotAsk) {
    Family family;
    family.child().runtime_status = RuntimeStatus::suspended;
    EXPECT_EQ(family.calls(), kBoth);
}

TEST(DirectComplete, IsNotForADeviceThatHasOptedOut) {
    Family family;
    ask(family.child(), RuntimeStatus::suspended);
    family.child().no_direct_complete = true;
    EXPECT_EQ(family.calls(), kBoth);
}

TEST(DirectComplete, IsNotForAParentWhoseChildSuspends) {
    Family family;
    ask(family.parent(), RuntimeStatus::suspended);
    EXPECT_EQ(family.calls(), kBoth);
}

TEST(DirectComplete, IsNotForASupplierWhoseConsumerSuspends) {
    Family family;
    family.child().parent.clear();
    family.spec.links.push_back({"P", "K"});
    ask(family.parent(), RuntimeStatus::suspended);
    EXPECT_EQ(family.calls(), kBoth);
}

TEST(DirectComplete, IsNotForADeviceThatMayWakeTheSystemNorItsAncestors) {
    Family family;
    family.spec.devices.insert(family.spec.devices.begin(), called("G"));
    family.spec.devices[1].parent = "G";
    for (DeviceSpec& device : family.spec.devices) ask(device, RuntimeStatus::suspended);
    EXPECT_EQ(family.calls(), "");
    family.spec.devices[2].wakeup = true;
    EXPECT_EQ(family.calls(),
              "suspend: K P G; suspend_late: K P G; suspend_noirq: K P G; resume_noirq: G P K; "
              "resume_early: G P K; resume: G P K; ");
}

TEST(DirectComplete, OfAChildLeavesItsParentAlone) {
    Family family;
    ask(family.parent(), RuntimeStatus::suspended);
    ask(family.child(), RuntimeStatus::suspended);
    EXPECT_EQ(family.calls(), "");
}

TEST(DirectComplete, CanBeSwitchedOff) {
    Family family;
    ask(family.parent(), RuntimeStatus::suspended);
    ask(family.child(), RuntimeStatus::suspended);
    Scenario scenario = reference_scenario(compiled(family.spec), 2);
    scenario.direct_complete = false;
    EXPECT_EQ((Ran{scenario, "old"}.calls(Phase::resume)), "P K");
}

TEST(DirectComplete, StillPreparesAndCompletes) {
    Family family;
    ask(family.child(), RuntimeStatus::suspended);
    const Ran ran{reference_scenario(compiled(family.spec), 2), "old"};
    EXPECT_EQ(ran.calls(Phase::prepare), "P K");
    EXPECT_EQ(ran.calls(Phase::complete), "K P");
}

TEST(DirectComplete, DoesNotWaitOnResume) {
    Family family;
    family.parent().callbacks[index_of(Phase::resume)] = {{SegmentKind::cpu, 9, 0}};
    ask(family.child(), RuntimeStatus::suspended);
    const Ran ran{reference_scenario(compiled(family.spec), 2), "old"};
    EXPECT_EQ(ran.of(Phase::resume, "K").begin_ns, 0);
    EXPECT_EQ(ran.phase(Phase::resume).blocks, 0);
}

TEST(DirectComplete, OfADeviceWithoutCallbacksKeepsItsParentAsleep) {
    // Its own callbacks would not have been called anyway, but it holds its parent up.
    Family family;
    family.child().callbacks = {};
    family.child().no_pm_callbacks = true;
    ask(family.parent(), RuntimeStatus::suspended);
    family.child().runtime_status = RuntimeStatus::unsupported;
    EXPECT_EQ(family.calls(), "");
    family.child().runtime_status = RuntimeStatus::active;
    EXPECT_EQ(family.calls(),
              "suspend: P; suspend_late: P; suspend_noirq: P; resume_noirq: P; resume_early: P; "
              "resume: P; ");
}

TEST(Syscore, IsSkippedEverywhere) {
    Family family;
    family.child().syscore = true;
    EXPECT_EQ(family.calls(),
              "suspend: P; suspend_late: P; suspend_noirq: P; resume_noirq: P; resume_early: P; "
              "resume: P; ");
    const Ran ran{reference_scenario(compiled(family.spec), 2), "sync"};
    EXPECT_EQ(ran.calls(Phase::prepare), "P");
    EXPECT_EQ(ran.calls(Phase::complete), "P");
}

TEST(Syscore, DoesNotWaitOnResume) {
    Family family;
    family.child().syscore = true;
    const Ran ran{reference_scenario(compiled(family.spec), 2), "old"};
    EXPECT_EQ(ran.of(Phase::resume, "K").begin_ns, 0);
}

TEST(SmartSuspend, SkipsTheLatePhasesOfADeviceThatIsSuspended) {
    Family family;
    family.child().smart_suspend = true;
    family.child().runtime_status = RuntimeStatus::suspended;
    EXPECT_EQ(family.calls(),
              "suspend: K P; suspend_late: P; suspend_noirq: P; resume_noirq: P K; "
              "resume_early: P K; resume: P K; ");
}

TEST(SmartSuspend, MeansNothingToADeviceThatIsActive) {
    Family family;
    family.child().smart_suspend = true;
    EXPECT_EQ(family.calls(), kBoth);
}

TEST(MaySkipResume, LeavesASuspendedDeviceSuspended) {
    Family family;
    family.child().may_skip_resume = true;
    family.child().runtime_status = RuntimeStatus::suspended;
    EXPECT_EQ(family.calls(),
              "suspend: K P; suspend_late: K P; suspend_noirq: K P; resume_noirq: P; "
              "resume_early: P; resume: P; ");
}

TEST(MaySkipResume, IsNotForADeviceThatIsActiveOrWakesTheSystem) {
    Family family;
    family.child().may_skip_resume = true;
    EXPECT_EQ(family.calls(), kBoth);
    family.child().runtime_status = RuntimeStatus::suspended;
    family.child().wakeup = true;
    EXPECT_EQ(family.calls(), kBoth);
}

TEST(MaySkipResume, IsNotForAParentWhoseChildResumes) {
    Family family;
    family.parent().may_skip_resume = true;
    family.parent().runtime_status = RuntimeStatus::suspended;
    EXPECT_EQ(family.calls(), kBoth);
}

TEST(MaySkipResume, IsForAWholeFamily) {
    Family family;
    for (DeviceSpec* device : {&family.parent(), &family.child()}) {
        device->may_skip_resume = true;
        device->runtime_status = RuntimeStatus::suspended;
    }
    EXPECT_EQ(family.calls(), "suspend: K P; suspend_late: K P; suspend_noirq: K P; ");
}

TEST(MaySkipResume, IsNotForASupplierWhoseConsumerResumes) {
    Family family;
    family.child().parent.clear();
    family.spec.links.push_back({"P", "K"});
    family.parent().may_skip_resume = true;
    family.parent().runtime_status = RuntimeStatus::suspended;
    EXPECT_EQ(family.calls(), kBoth);
}

TEST(Links, OfADormantSupplierAreNotWaitedFor) {
    GraphSpec spec = in_list_order({called("S", "", 9), called("C", "", 9)}, {{"S", "C"}});
    EXPECT_EQ((Ran{reference_scenario(compiled(spec), 2), "old"}.phase(Phase::resume).ns), 18);
    spec.links[0].state = LinkState::dormant;
    EXPECT_EQ((Ran{reference_scenario(compiled(spec), 2), "old"}.phase(Phase::resume).ns), 9);
}

TEST(Links, EvenADormantOneMakesNoRootForV617) {
    // X is started in the first pass when it is a root, else only when the walk has passed T.
    GraphSpec spec =
        in_list_order({called("S", "", 1), called("T", "", 5), called("X", "", 1)}, {{"S", "X"}});
    spec.devices[1].async_suspend = false;
    spec.links[0].state = LinkState::dormant;
    const Scenario scenario = reference_scenario(compiled(spec), 3);
    EXPECT_EQ((Ran{scenario, "up-6.16"}.of(Phase::resume, "X").queued_ns), 0);
    EXPECT_EQ((Ran{scenario, "up-6.17"}.of(Phase::resume, "X").queued_ns), 5);
    EXPECT_EQ((Ran{scenario, "breadth-first"}.of(Phase::resume, "X").queued_ns), 0);
}

TEST(Links, AreFollowedByV617AndNotByV616) {
    // S starts its consumer X when it is done, in v6.17; in v6.16 the walk is held up by T until 9.
    GraphSpec spec = in_list_order(
        {called("R", "", 1), called("S", "R", 1), called("T", "", 9), called("X", "R", 1)}, {{"S", "X"}});
    spec.devices[2].async_suspend = false;
    spec.devices[3].parent.clear();
    spec.links.push_back({"R", "X"});
    const Scenario scenario = reference_scenario(compiled(spec), 3);
    EXPECT_EQ((Ran{scenario, "up-6.17"}.of(Phase::resume, "X").queued_ns), 1);
    // A parentless device with suppliers goes first in v6.16.
    EXPECT_EQ((Ran{scenario, "up-6.16"}.of(Phase::resume, "X").queued_ns), 0);
    EXPECT_EQ((Ran{scenario, "up-6.16"}.phase(Phase::resume).blocks), 2);
    EXPECT_EQ((Ran{scenario, "breadth-first"}.of(Phase::resume, "X").queued_ns), 2);
}

}  // namespace
}  // namespace torpor::dpm
