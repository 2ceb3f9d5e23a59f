"""The models of one workspace: counted, capped, and left alone for a while after they failed.

Owns the one rule by which a model is asked: before each question the ceilings and the rest after failures are looked
up in `.state/usage.jsonl`; after it what was used, or what went wrong, is written there; a passing failure is tried
again after a short wait. Promises that no question waits longer than a few seconds between its tries, that a restart
resets nothing, and that each failure is a ModelFailed whose message is its remedy; never keeps what was said.

What survives a crash: everything answered is counted; a question under way is not.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from datetime import datetime

from reverie.core.ledger import Call, Standing, last_troubles, standing
from reverie.core.patience import limits_of, pause, refusal, rest
from reverie.core.settings.value import Settings
from reverie.errors import ModelFailed
from reverie.model.access import Access
from reverie.model.agents import Agentic, AgentModel, agent_model
from reverie.model.asking import Model, Purpose, Reply, Request, Usage
from reverie.model.failures import unusable
from reverie.model.providers import NONE, open_model
from reverie.store import usage
from reverie.store.workspace import Workspace

_PAGES = ("<!doctype html", "<html")


class Models:
    """The models of a workspace by purpose: those that its settings name, or one that was handed over for all.

    A model handed over is counted and capped like any other; whether it tries again is its owner's decision.
    """

    def __init__(self, ws: Workspace, *, given: Model | None = None, key: str = "") -> None:
        """Serve a workspace; `key` is what the variable of `models.key_variable` holds."""
        self._ws, self._given = ws, given
        models = ws.settings.models
        self._access = Access(
            base_url=models.base_url,
            key=key,
            key_variable=models.key_variable,
            timeout=float(models.timeout_seconds),
        )

    def name(self, purpose: Purpose) -> str:
        """Return the name of the model for a purpose; `none` where everything goes by rules."""
        if self._given is not None:
            return self._given.name
        return name_for(purpose, self._ws.settings)

    def ask(self, purpose: Purpose, *, run: str = "") -> Model | None:
        """Return the model for a purpose under the rule, None for rules; nothing is contacted yet."""
        inner = self._given if self._given is not None else open_model(self.name(purpose), self._access)
        return None if inner is None else Asked(self._books(purpose, run), inner)

    def agent(self, purpose: Purpose, *, run: str = "") -> AbstractAsyncContextManager[AgentModel] | None:
        """Return what gives a model to an agent of Pydantic AI, under the rule; None for rules.

        `run` names what the ceilings of a run are counted by, so that a run which is resumed goes on counting. A
        model handed over serves an agent when it is Agentic, else rules do.
        """
        given: object = self._given
        inner = given if isinstance(given, Agentic) else None
        if self.name(purpose) in NONE or (self._given is not None and inner is None):
            return None
        return agent_model(self._books(purpose, run), self._access, given=inner)

    def _books(self, purpose: Purpose, run: str) -> Kept:
        return Kept(self._ws, self.name(purpose), purpose=purpose, run=run, patient=self._given is None)


def name_for(purpose: Purpose, settings: Settings) -> str:
    """Return the model that the settings name for a purpose; `none` for rules."""
    own = {
        "extraction": settings.extraction.model,
        "summary": settings.summaries.model,
        "dream": settings.dream.model,
    }
    return own[purpose] or settings.model


class Kept:
    """A workspace's books about one model in one run: may it be asked, what did it use, when is it asked again.

    `patient` says whether failures are tried again and followed by a rest; whoever hands over a model of their own
    decides that themselves. `run` names what the ceilings of a run are counted by; "" is the purpose and the instant.
    """

    def __init__(
        self,
        ws: Workspace,
        name: str,
        *,
        purpose: Purpose,
        run: str = "",
        patient: bool = True,
        chance: Callable[[], float] = random.random,
    ) -> None:
        """Open the books; nothing is read yet."""
        self.name, self.purpose = name, purpose
        self._ws, self._patient, self._chance = ws, patient, chance
        self._run = run or f"{purpose}:{ws.clock():%Y%m%d-%H%M%S}"

    def admit(self) -> datetime:
        """Return the instant at which a question begins; raises ModelFailed where none may be asked."""
        now = self._ws.clock()
        stands = self._standing(now)
        if not self._patient:
            stands = Standing(day=stands.day, run=stands.run)
        why = refusal(stands, limits_of(self._ws.settings, self.purpose), now=now)
        if why is not None:
            last = last_troubles(usage.read(self._ws)).get(self.purpose)
            if why.kind == "ceiling" and (last is None or last.problem != str(why)):
                usage.note(self._ws, why, purpose=self.purpose, model=self.name)
            raise why
        return now

    def answered(self, began: datetime, used: Usage, *, wrong: ModelFailed | None = None) -> None:
        """Record an answer and what it used; `wrong` says why it cannot be used."""
        self._record(began, used, failure=wrong, final=True)

    def failed(self, began: datetime, failure: ModelFailed, *, tried: int, waited: float) -> float:
        """Record that a question failed; return the seconds to wait before it is asked again, or raise the failure."""
        tries = self._ws.settings.models.tries if self._patient else 1
        wait = pause(failure, tried=tried, tries=tries, waited=waited, chance=self._chance())
        self._record(began, Usage(calls=1), failure=failure, final=wait is None)
        if wait is None:
            raise failure
        return wait

    def _record(self, began: datetime, used: Usage, *, failure: ModelFailed | None, final: bool) -> None:
        """Append what happened, and until when the model is left alone when this was its last try."""
        now, until = self._ws.clock(), None
        if failure is not None and final and self._patient:
            failures = self._standing(now).failures + 1
            leave = rest(failure, failures=failures, chance=self._chance())
            until = None if leave is None else now + leave
        call = Call(
            at=now,
            day=self._ws.calendar.day(now),
            purpose=self.purpose,
            model=self.name,
            run=self._run,
            calls=used.calls,
            input_tokens=used.input_tokens,
            output_tokens=used.output_tokens,
            cost=used.cost,
            seconds=round(max(0.0, (now - began).total_seconds()), 3),
            kind="" if failure is None else failure.kind,
            problem="" if failure is None else str(failure),
            until=until,
        )
        usage.record(self._ws, call)

    def _standing(self, now: datetime) -> Standing:
        return standing(usage.read(self._ws), model=self.name, day=self._ws.calendar.day(now), run=self._run)


class Asked:
    """A model under the rule of its workspace: what steps are given."""

    def __init__(self, books: Kept, inner: Model, *, wait: Callable[[float], None] = time.sleep) -> None:
        """Put `inner` under the rule that `books` keeps."""
        self._books, self._inner, self._wait = books, inner, wait

    @property
    def name(self) -> str:
        """The model's own name."""
        return self._inner.name

    def complete(self, request: Request) -> Reply:
        """Ask as the rule allows and return the reply; raises ModelFailed."""
        waited, tried = 0.0, 0
        while True:
            began = self._books.admit()
            tried += 1
            try:
                reply = self._inner.complete(request)
            except ModelFailed as failure:
                pause_ = self._books.failed(began, failure, tried=tried, waited=waited)
                self._wait(pause_)
                waited += pause_
                continue
            wrong = _wrong(self.name, reply, request)
            self._books.answered(began, reply.usage, wrong=wrong)
            if wrong is not None:
                raise wrong
            return reply


def _wrong(name: str, reply: Reply, request: Request) -> ModelFailed | None:
    """Return why an answer is no answer to the question: for whoever reads it, or for who asked."""
    text = reply.text.strip()
    if not text:
        return unusable(name, "gave an empty answer")
    if text[:20].lower().startswith(_PAGES):
        return unusable(name, "answered with a web page")
    if request.schema is not None and "{" not in text and "[" not in text:
        return unusable(name, "ignored the form that was asked of it")
    try:
        if request.accept is not None:
            request.accept(reply)
    except ModelFailed as failure:
        return failure
    return None
