"""Moments are read leniently, keep the offset they were written with, and sort by instant."""

import datetime as dt

from hypothesis import given
from hypothesis import strategies as st

from memosite.facts.times import UTC, Moment, read_moment, read_stamp


def test_a_date_is_read_as_it_was_meant_and_a_names_stamp_as_a_last_resort() -> None:
    """ISO 8601 as people and tools write it, without a zone in UTC; no placeholder, no invented date."""
    for written, utc, zone in [
        ("2026-05-01T14:30:00Z", "2026-05-01T14:30:00Z", "+00:00"),
        ("2026-05-01t14:30:00z", "2026-05-01T14:30:00Z", "+00:00"),
        ("2026-05-01T14:30:00-04:00", "2026-05-01T18:30:00Z", "-04:00"),
        ("2026-05-01T14:30:00+0530", "2026-05-01T09:00:00Z", "+05:30"),
        ("2026-05-01T14:30:00+14", "2026-05-01T00:30:00Z", "+14:00"),
        ("2026-05-01 14:30 +02:00", "2026-05-01T12:30:00Z", "+02:00"),
        ("2026-05-01T14:30:00-00:00", "2026-05-01T14:30:00Z", "+00:00"),
        ("2026-05-01T14:30", "2026-05-01T14:30:00Z", None),
        ("2026-05-01T14", "2026-05-01T14:00:00Z", None),
        ("2026-05-01", "2026-05-01T00:00:00Z", None),
        (" 2026-05-01\n", "2026-05-01T00:00:00Z", None),
        ("20260501T143000Z", "2026-05-01T14:30:00Z", "+00:00"),
        ("20260501", "2026-05-01T00:00:00Z", None),
        ("2026-05-20T22:29:20.944Z", "2026-05-20T22:29:20.944Z", "+00:00"),
        ("2026-05-20T22:29:20,5Z", "2026-05-20T22:29:20.500Z", "+00:00"),
        ("2026-05-20T22:29:20.123456789Z", "2026-05-20T22:29:20.123Z", "+00:00"),
        ("2026-05-20T22:29:20.000000001Z", "2026-05-20T22:29:20Z", "+00:00"),
        ("2026-05-01T24:00:00Z", "2026-05-02T00:00:00Z", "+00:00"),
        ("2026-12-31T23:59:60Z", "2027-01-01T00:00:00Z", "+00:00"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z", "+00:00"),
        ("2024-02-29", "2024-02-29T00:00:00Z", None),
        *(
            (text, None, None)
            for text in (
                *("", "<ISO 8601 timestamp>", "YYYY-MM-DDTHH:MM:SSZ", "yesterday", "2026-02-29", "2026-13-01"),
                *("2026-00-10", "0000-01-01", "2026-05-01T25:00:00Z", "2026-05-01T24:01:00Z", "2026-05-01T14:60:00Z"),
                *("2026-05-01T14:30:61Z", "2026-05-01T14:30:00+24:00", "2026-05-01T14:30:00+01:60"),
                *("2026-05-01T14:3000Z", "2026-0501", "2026-05-01T", "2026-05-01T14:30:00 UTC"),
                *("9999-12-31T23:59:59-04:00", "0001-01-01T00:00:00+04:00", "٢٠٢٦-05-01"),
                *("2026-05-01Z", "2026-05-01T14.5"),
            )
        ),
    ]:
        moment = read_moment(written)
        assert (moment and moment.utc, moment and moment.zone) == (utc, zone), written
        assert moment is None or (moment.offset is None) == (zone is None), written
    for stamp, utc in [
        ("2026-05-01-1430", "2026-05-01T14:30:00Z"),
        ("2026-05-01", "2026-05-01T00:00:00Z"),
        ("2026-05-01-0000", "2026-05-01T00:00:00Z"),
        *((text, None) for text in ("2026-05-01-9999", "2026-13-01", "2026-05-01-14x0", "")),
    ]:
        moment = read_stamp(stamp)
        assert (moment and moment.utc) == utc, stamp
        assert moment is None or (moment.offset, moment.origin) == (None, "name"), stamp


@given(st.datetimes(timezones=st.just(UTC)), st.integers(-24 * 60, 24 * 60))
def test_a_local_time_never_raises_even_at_the_ends_of_time(instant: dt.datetime, offset: int) -> None:
    """Where the wall clock would leave years 1 to 9999, UTC stands in."""
    local = Moment(instant=instant, offset=offset).local
    assert local.tzinfo is None


@given(st.datetimes(min_value=dt.datetime(2, 1, 1), max_value=dt.datetime(9998, 1, 1)), st.integers(-1439, 1439))
def test_what_python_writes_is_read_back(naive: dt.datetime, minutes: int) -> None:
    """Any instant in any offset of whole minutes, to the microsecond; the writer's clock is kept, without its zone."""
    written = naive.replace(tzinfo=dt.timezone(dt.timedelta(minutes=minutes)))
    moment = read_moment(written.isoformat())
    assert moment == Moment(instant=written.astimezone(UTC), offset=minutes)
    assert moment is not None and moment.local == naive
