# SPDX-License-Identifier: MIT
"""Boards as the machine of the device core, and the profiles that have a [dpm] section."""

import msgspec
import pytest

from dpm_board_text import PLAIN, good, section
from refusals import refused
from torpor.board import Board, _dpm_devices
from torpor.dpm import generator, graph
from torpor.dpm.machine import ClusterPower, fair_machine

# The machine


def test_a_rate_is_the_capacity_at_the_frozen_frequency() -> None:
    cpus = fair_machine(good(), {"a": 0.5, "b": 1.0}, None, None).cpus
    assert [(cpu.rate, cpu.capacity, cpu.relative_freq, cpu.cluster) for cpu in cpus] == [
        (0.25, 512, 0.5, 0),
        (0.25, 512, 0.5, 0),
        (1.0, 1024, 1.0, 1),
    ]


def test_a_deep_state_counts_after_a_share_of_its_target_residency() -> None:
    cpus = fair_machine(good(), 1.0, 0.2, None).cpus
    assert cpus[0].idle_exits == ((0, 1000), (200_000, 250_000))


def test_polling_and_a_state_with_the_residency_of_a_deeper_one_do_not_count() -> None:
    assert fair_machine(good(), 1.0, 1.0, None).cpus[2].idle_exits == ((0, 2000), (800_000, 200_000))


def test_without_a_share_leaving_idle_takes_no_time() -> None:
    assert [cpu.idle_exits for cpu in fair_machine(good(), 1.0, None, None).cpus] == [()] * 3


def test_the_energy_model_is_the_boards_own_before_the_operating_points() -> None:
    domains = fair_machine(good(), 1.0, None, None).domains
    assert domains[0] == ((pytest.approx(512 * 5 / 9), 50.0), (512.0, 90.0))
    assert domains[1] == ((512.0, 100.0), (1024.0, 300.0))


def test_a_cluster_without_power_leaves_no_energy_model_at_all() -> None:
    assert fair_machine(Board.from_toml(PLAIN), 1.0, None, None).domains == ()


def test_fewer_cpus_are_the_first_of_the_board() -> None:
    machine = fair_machine(good(), {"a": 0.5, "b": 1.0}, None, 2)
    assert (len(machine.cpus), machine.clusters, len(machine.domains)) == (2, ("a",), 1)


def test_power_is_that_of_the_operating_point_next_to_the_frozen_frequency() -> None:
    def power(freq: float) -> object:
        return fair_machine(good(), freq, None, 2).power

    assert power(1.0) == (ClusterPower(90.0, 2.0, 9.0),)
    assert power(0.5) == (ClusterPower(50.0, 2.0, 5.0),)
    assert power(0.8) == (ClusterPower(90.0, 2.0, 9.0),)


def test_unpublished_power_of_one_cluster_leaves_none() -> None:
    assert fair_machine(good(), 1.0, None, None).power is None


def test_a_machine_refuses_what_cannot_be() -> None:
    board = good()
    assert refused(lambda: fair_machine(board, 0.0, None, None)).startswith(
        "relative_freq=0.0: must be above"
    )
    assert "relative_freq[c]: clusters of mine: a, b" in refused(
        lambda: fair_machine(board, {"c": 1.0}, None, None)
    )
    assert "cluster b is missing" in refused(lambda: fair_machine(board, {"a": 1.0}, None, None))
    assert "relative_freq[b]=7" in refused(lambda: fair_machine(board, {"a": 1.0, "b": 7}, None, None))
    assert "idle_exit_share=-1" in refused(lambda: fair_machine(board, 1.0, -1, None))
    assert "cpus=4 is outside 1..3" in refused(lambda: fair_machine(board, 1.0, None, 4))
    assert "is no Board" in refused(lambda: fair_machine("toy", 1.0, None, None))  # type: ignore[arg-type]


# Profiles


class TestPixel6:
    board = Board.load("pixel-6")

    def test_reckons_energy_by_coefficient_frequency_and_voltage(self) -> None:
        points = {domain.cluster: domain for domain in section(self.board).performance_domains}
        assert points["little"].power_mw[0] == pytest.approx(70 * 300 * 0.5375**2 / 1000, abs=0.005)
        assert points["mid"].power_mw[7] == pytest.approx(284 * 1328 * 0.6875**2 / 1000, abs=0.005)
        assert points["big"].power_mw[-1] == pytest.approx(650 * 2802 * 1.05625**2 / 1000, abs=0.005)
        assert self.board.provenance("dpm.performance_domains[0].power_mw").kind == "cited"

    def test_has_the_operating_points_of_its_clusters_in_the_energy_model(self) -> None:
        for cluster, domain in zip(self.board.clusters, section(self.board).performance_domains, strict=True):
            assert [opp.freq_khz for opp in cluster.opps] == list(domain.freq_khz)

    def test_has_nothing_fitted(self) -> None:
        kinds = {found.kind for key, (_, found) in self.board.provenances.items() if key.startswith("dpm.")}
        assert kinds == {"assumed", "cited"}
        assert section(self.board).scales is None

    def test_flags_every_device_async(self) -> None:
        assert section(self.board).async_devices == "all"


class TestPixel6Like:
    board = Board.load("pixel-6-like")

    def test_differs_from_pixel_6_in_hardware_by_the_wake_latency_of_wfi_only(self) -> None:
        keys = {entry.key for entry in Board.load("pixel-6").diff(self.board)}
        hardware = {key for key in keys if not key.startswith("dpm.")} - {"name", "description"}
        assert hardware == {f"clusters[{c}].idle_states[0].wake_latency_us" for c in range(3)}

    def test_says_that_it_is_an_existence_result(self) -> None:
        assert "existence result, 6 fitted numbers and 2 factors" in self.board.description

    def test_says_which_values_were_fitted(self) -> None:
        fitted = {key for key, (_, found) in self.board.provenances.items() if found.kind == "fitted"}
        assert {key.removeprefix("dpm.") for key in fitted} == {
            *(f"costs.{name}_us" for name in ("switch", "wake", "idle_ipi", "queue", "dispatch", "core")),
            "devices.cpu_share",
            "devices.lock_share",
            "scales.suspend",
            "scales.resume",
        }

    def test_says_what_was_chosen_with_the_results_in_view(self) -> None:
        for key in ("idle_exit_share", "relative_freq", "devices.fixed_share", "devices.class_ratio"):
            assert "chosen while looking at all cells" in self.board.provenance(f"dpm.{key}").source

    def test_pays_an_idle_exit_early(self) -> None:
        cpus = fair_machine(self.board, 0.9, 0.2, None).cpus
        assert [cpus[cpu].idle_exits[1] for cpu in (0, 4, 6)] == [
            (400_000, 160_000),
            (500_000, 190_000),
            (700_000, 220_000),
        ]
        assert {cpu.idle_exits[0] for cpu in cpus} == {(0, 3000)}


def test_a_laptop_has_equal_cpus_and_no_eas() -> None:
    board = Board.load("x86-skylake")
    assert section(board).eas is False
    machine = fair_machine(board, 1.0, 1.0, None)
    assert {cpu.rate for cpu in machine.cpus} == {1.0}
    assert (machine.domains, machine.power) == ((), None)


def test_the_toy_has_a_device_graph_of_its_own() -> None:
    dpm = section(Board.load("toy"))
    assert [device.name for device in dpm.device][:2] == ["soc", "clock"]
    assert {link.supplier for link in dpm.link} == {"clock"}


def test_the_devices_of_the_toy_make_a_graph() -> None:
    dpm = section(Board.load("toy"))
    links = [msgspec.structs.asdict(link) for link in dpm.link]
    made = graph.DeviceGraph.from_records(_dpm_devices.device_records(dpm.device), links)
    assert made.order == ("soc", "clock", "i2c", "touch", "input", "display", "backlight", "storage")


@pytest.mark.parametrize("name", ["pixel-6", "pixel-6-like", "x86-skylake"])
def test_the_devices_of_a_profile_can_be_drawn(name: str) -> None:
    devices = section(Board.load(name)).devices
    assert devices is not None
    drawn = generator.Generator(**msgspec.structs.asdict(devices)).draw(seed=1)
    assert len(drawn) == devices.devices
