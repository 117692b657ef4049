"""Policies as values, state tables, and open-loop decisions."""

import copy
import pickle

import numpy as np
import pytest

import torpor
from torpor import _core
from torpor.idle import (
    DelayedOracle,
    Fixed,
    Haltpoll,
    Ladder,
    Menu,
    Oracle,
    Teo,
    known_policies,
    parse_policy,
)

POLICIES = [
    (Menu(), "menu(version=6.1.192)", "Menu(version='6.1.192', loop='4.19')"),
    (Menu("4.18"), "menu(version=4.18)", "Menu(version='4.18', loop='4.17')"),
    (Menu("4.18+P1", loop="leo"), "menu(version=4.18+P1, loop=leo)", "Menu(version='4.18+P1', loop='leo')"),
    (Menu("4.18.20"), "menu(version=4.19)", "Menu(version='4.19', loop='4.19')"),
    (
        Teo(first_update=False),
        "teo(version=6.1, first_update=false)",
        "Teo(version='6.1', first_update=False, loop='4.19')",
    ),
    (Ladder(), "ladder(version=6.1)", "Ladder(version='6.1', loop='4.19')"),
    (Haltpoll(), "haltpoll()", "Haltpoll(loop='4.19')"),
    (Fixed(2), "fixed(state=2)", "Fixed(state=2, stop_tick=True, loop='4.19')"),
    (Oracle(), "oracle()", "Oracle(latency_limit_us=2000000000)"),
    (
        DelayedOracle(500, latency_limit_us=100),
        "delayed_oracle(delay_us=500, latency_limit_us=100)",
        "DelayedOracle(delay_us=500, latency_limit_us=100)",
    ),
]


@pytest.mark.parametrize(
    ("policy", "text", "representation"), POLICIES, ids=[text for _, text, _ in POLICIES]
)
def test_a_policy_reads_back_from_its_text_and_its_representation(
    policy: torpor.idle.Policy, text: str, representation: str
) -> None:
    assert str(policy) == text
    assert repr(policy) == representation
    assert parse_policy(text) == policy
    assert eval(representation) == policy
    assert pickle.loads(pickle.dumps(policy)) == policy
    assert copy.deepcopy(policy) == policy
    assert hash(parse_policy(text)) == hash(policy)


def test_policies_of_different_kinds_and_parameters_differ() -> None:
    assert len({policy for policy, _, _ in POLICIES}) == len(POLICIES)
    assert Menu("6.1") != Teo("6.1")


def test_a_bad_parameter_is_refused_with_what_is_known() -> None:
    with pytest.raises(torpor.ConfigError, match=r"'4\.17' is unknown; known: 4\.18, "):
        Menu("4.17")
    with pytest.raises(torpor.ConfigError, match=r"loop: '4\.18' is unknown; known: 4\.17, leo, 4\.19"):
        Menu(loop="4.18")
    with pytest.raises(torpor.ConfigError, match=r"fixed\.state: -1 is out of range"):
        Fixed(-1)
    with pytest.raises(torpor.ConfigError, match="'menus' is unknown"):
        parse_policy("menus")


def test_every_known_policy_can_be_made_with_its_versions() -> None:
    names = [info.name for info in known_policies()]
    assert names == ["menu", "teo", "ladder", "haltpoll", "fixed", "oracle", "delayed_oracle"]
    for info in known_policies():
        for version in info.versions:
            assert f"version={version}" in str(parse_policy(f"{info.name}(version={version})"))


def hikey() -> _core.StateTable:
    return _core.StateTable(
        [1000, 950_000, 1_500_000],
        target_residency_ns=[1000, 1_000_000, 2_700_000],
        polling=[False, False, False],
    )


def test_a_state_table_is_a_value() -> None:
    table = hikey()
    assert len(table) == 3
    assert table.target_residency_ns == [1000, 1_000_000, 2_700_000]
    assert pickle.loads(pickle.dumps(table)) == table
    assert eval(repr(table), {"StateTable": _core.StateTable}) == table
    assert hash(hikey()) == hash(table)


def test_a_state_table_with_columns_of_different_length_is_refused() -> None:
    with pytest.raises(torpor.ConfigError, match="differ in length"):
        _core.StateTable([1], target_residency_ns=[1, 2], polling=[False])


def test_a_tick_length_is_what_the_kernel_computes() -> None:
    tick = _core.TickLength(300)
    assert (tick.ns, tick.us) == (3333333, 3333)
    assert pickle.loads(pickle.dumps(tick)) == tick
    with pytest.raises(torpor.ConfigError, match=r"1\.\.10000"):
        _core.TickLength(0)


def columns(rows: int = 12) -> dict[str, np.ndarray]:
    return {
        "sleep_ns": np.full(rows, 20_000_000, dtype=np.int64),
        "tick_ns": np.full(rows, 4_000_000, dtype=np.int64),
        "resid_ns": np.full(rows, 3_000_000, dtype=np.uint64),
    }


def test_decisions_come_as_arrays_with_debug_figures_on_request() -> None:
    answers = _core.decide(Menu("4.18"), table=hikey(), tick=_core.TickLength(250), **columns())
    assert set(answers) == {"idx", "stop"}
    assert answers["idx"][0] == 0
    assert answers["idx"][-1] == 2
    figures = _core.decide(Menu("4.18"), table=hikey(), tick=_core.TickLength(250), **columns(), debug=True)
    assert set(figures) == {"idx", "stop", "typ", "pred", "bkt", "fac", "total"}
    assert (figures["total"] == -1).all()


def test_decisions_refuse_lossy_columns_bounds_and_ragged_input() -> None:
    table, tick = hikey(), _core.TickLength(250)
    with pytest.raises(TypeError):
        _core.decide(Menu(), table=table, tick=tick, **{**columns(), "sleep_ns": np.full(12, 0.5)})
    with pytest.raises(torpor.ConfigError, match="is a bound, not a governor"):
        _core.decide(Oracle(), table=table, tick=tick, **columns())
    with pytest.raises(torpor.ConfigError, match="tick_ns: has 5 rows, but sleep_ns has 12"):
        _core.decide(Menu(), table=table, tick=tick, **{**columns(), "tick_ns": np.zeros(5, dtype=np.int64)})
    with pytest.raises(torpor.ConfigError, match="not a one-dimensional array"):
        _core.decide(
            Menu(), table=table, tick=tick, **{**columns(), "sleep_ns": np.zeros((2, 6), dtype=np.int64)}
        )
    with pytest.raises(torpor.ConfigError, match=r"fixed\.state: 3 is not a state of this table"):
        _core.decide(Fixed(3), table=table, tick=tick, **columns())
