"""What a check of a store found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is: data is damaged, something should be seen to, or it is only worth knowing."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found, and what to do about it."""

    severity: Severity
    what: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """All findings, the worst first, and how many rows were read of each table."""

    findings: tuple[Finding, ...] = ()
    rows: Mapping[str, int] = field(default_factory=dict)

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return all(finding.severity is Severity.NOTE for finding in self.findings)


def report_of(findings: list[Finding], rows: Mapping[str, int] | None = None) -> Report:
    """Return a report of findings in their order of severity."""
    order = list(Severity)
    return Report(tuple(sorted(findings, key=lambda one: order.index(one.severity))), rows or {})
