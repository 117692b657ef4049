// SPDX-License-Identifier: MIT
#include "torpor/freezer/sites.hpp"

#include <gtest/gtest.h>

#include <array>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace torpor::freezer {
namespace {

constexpr std::array<Version, 10> kVersions{Version::v3_9,      Version::p1,   Version::p2,    Version::p1p2,
                                            Version::skip_only, Version::full, Version::v3_12, Version::v6_1,
                                            Version::v6_7,      Version::ideal};

std::vector<Site> all_sites() {
    std::vector<Site> sites;
    for (std::size_t i = 0; i < kSiteCount; ++i) sites.push_back(static_cast<Site>(i));
    return sites;
}

// One letter per version in the order of kVersions: w wake, r request, s skip, m mark.
std::string handlings(Site site) {
    std::string letters;
    for (const Version version : kVersions) letters += to_string(handling(site, version)).front();
    return letters;
}

void expect_handlings(std::initializer_list<Site> sites, const std::string& letters) {
    for (const Site site : sites) EXPECT_EQ(handlings(site), letters) << to_string(site);
}

TEST(Handling, SitesExemptBeforeTheSeriesAreSignalledUntilPatch2) {
    expect_handlings({Site::vfork, Site::coredump, Site::usermodehelper, Site::rpc, Site::cgroup_frozen},
                     "rrsssssmmm");
}

TEST(Handling, ConvertedSitesAreSkippedFromPatches2To10OnAndMarkedFrom61On) {
    expect_handlings({Site::binder, Site::futex, Site::nanosleep, Site::sigtimedwait, Site::af_unix,
                      Site::af_unix_timeout},
                     "wwwwsssmmm");
}

TEST(Handling, SitesTakenBackFor312AreWokenAgain) {
    expect_handlings({Site::epoll, Site::select, Site::poll, Site::af_unix_splice}, "wwwwsswwwm");
}

TEST(Handling, OtherSitesAreWokenByEveryKernelAndMarkedByTheBound) {
    expect_handlings({Site::pipe, Site::tty, Site::inet_socket, Site::eventfd, Site::inotify, Site::pause,
                      Site::msgrcv, Site::semop, Site::other},
                     "wwwwwwwwwm");
}

TEST(Handling, ParentsThatWaitForAChildAreLeftAsleepFrom61On) {
    expect_handlings({Site::waitpid}, "wwwwwwwmmm");
}

TEST(Handling, KernelThreadsAreWokenEvenByTheBound) {
    expect_handlings({Site::kthread}, "wwwwwwwwww");
}

TEST(Handling, Patches1And2AloneChangeNothingForSitesNotYetConverted) {
    for (const Site site : all_sites()) {
        if (interrupted(site) == Interrupted::never) continue;
        for (const Version version : {Version::p1, Version::p2, Version::p1p2}) {
            EXPECT_EQ(handling(site, version), handling(site, Version::v3_9)) << to_string(site);
        }
    }
}

TEST(Handling, TheSleepPolicyDoesNotMatter) {
    for (const Site site : all_sites()) {
        EXPECT_EQ(handling(site, Version::v3_9), handling(site, Version::p1));
        EXPECT_EQ(handling(site, Version::p2), handling(site, Version::p1p2));
        EXPECT_EQ(handling(site, Version::skip_only), handling(site, Version::full));
        EXPECT_EQ(handling(site, Version::v6_1), handling(site, Version::v6_7));
    }
}

TEST(InterruptedCall, FollowsTheResultOfTheCall) {
    const std::vector<std::pair<Interrupted, std::vector<Site>>> expected{
        {Interrupted::restarted,
         {Site::binder, Site::select, Site::futex, Site::af_unix, Site::af_unix_splice, Site::pipe, Site::tty,
          Site::inet_socket, Site::eventfd, Site::inotify, Site::waitpid, Site::pause, Site::msgrcv,
          Site::other}},
        {Interrupted::restart_block, {Site::poll, Site::nanosleep}},
        {Interrupted::visible_error, {Site::epoll, Site::sigtimedwait, Site::af_unix_timeout, Site::semop}},
        {Interrupted::never,
         {Site::vfork, Site::coredump, Site::usermodehelper, Site::rpc, Site::cgroup_frozen, Site::kthread}},
    };
    std::size_t sites = 0;
    for (const auto& [what, where] : expected) {
        for (const Site site : where) EXPECT_EQ(interrupted(site), what) << to_string(site);
        sites += where.size();
    }
    EXPECT_EQ(sites, kSiteCount);
}

TEST(SiteNames, AreTheEnumeratorsNamesInTheirOrder) {
    ASSERT_EQ(site_names().size(), kSiteCount);
    EXPECT_EQ(site_names().front(), "binder");
    EXPECT_EQ(site_names().back(), "other");
    EXPECT_EQ(to_string(Site::af_unix_timeout), "af_unix_timeout");
    std::set<std::string_view> different;
    for (const Site site : all_sites()) {
        EXPECT_EQ(to_string(site), site_names()[static_cast<std::size_t>(site)]);
        different.insert(to_string(site));
    }
    EXPECT_EQ(different.size(), kSiteCount);
}

TEST(SiteNames, EachSiteNamesItsSource) {
    for (const Site site : all_sites()) EXPECT_FALSE(source_of(site).empty()) << to_string(site);
    EXPECT_NE(source_of(Site::binder).find("patch 4"), std::string_view::npos);
    EXPECT_NE(source_of(Site::epoll).find("3.12"), std::string_view::npos);
}

TEST(VersionNames, AreInTheOrderOfTheEnumerators) {
    std::string names;
    for (const Version version : kVersions) {
        EXPECT_EQ(to_string(version), version_names()[static_cast<std::size_t>(version)]);
        names += std::string{to_string(version)} + " ";
    }
    EXPECT_EQ(names, "v3.9 p1 p2 p1p2 skip-only full v3.12 v6.1 v6.7 ideal ");
    EXPECT_EQ(version_names().size(), kVersions.size());
}

}  // namespace
}  // namespace torpor::freezer
