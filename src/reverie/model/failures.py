"""What went wrong with a model, as one kind and one sentence that says what to do.

Owns the way from a provider's exceptions to ModelFailed; promises that a sentence repeats neither keys nor prompts nor
what the server said, but for a status and a short code; never calls a model.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reverie.errors import ModelFailed

if TYPE_CHECKING:
    from pydantic_ai.exceptions import ModelAPIError

    from reverie.model.access import Access

_GROUP = re.compile(r"pydantic-ai-slim\[([a-z0-9-]+)\]")
_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b")
_TOO_LONG = "exceed_context_size"  # as llama.cpp says it
_CODE = re.compile(r"[\w.-]{1,60}")
# What a provider's library lets through: its own errors, which are RuntimeErrors, what the system raises, and whatever
# an answer of an unforeseen form leads its code to.
RAISED = (RuntimeError, ImportError, OSError, ValueError, LookupError, TypeError, AttributeError)
_OURS = ("openai", "anthropic")  # what `reverie[models]` brings along
_ODD = (ValueError, LookupError, TypeError, AttributeError)
_PATIENT = 3_600.0  # seconds after which an account without credit is tried again


def failed(error: BaseException, name: str, *, access: Access) -> ModelFailed:
    """Return what an exception from a provider's library means for the model `name`."""
    from pydantic_ai import exceptions as known

    found: BaseException | None = error
    while found is not None:  # what our own look at a response raised, below whatever wrapped it
        if isinstance(found, ModelFailed):
            return found
        found = found.__cause__ or found.__context__
    if isinstance(error, ImportError):
        return _missing(error, name)
    if isinstance(error, known.UserError):
        return _misnamed(error, name, access=access)
    if isinstance(error, known.ContentFilterError):
        return refused(name)
    if isinstance(error, known.ModelAPIError):
        return _told(error, name, access=access)
    if isinstance(error, TimeoutError):
        return _late(name, access)
    if isinstance(error, (known.UnexpectedModelBehavior, *_ODD)):
        return _strange(name, access)
    return ModelFailed(f"{name} could not be asked ({type(error).__name__}): {_check(access)}", kind="down")


def without_package(name: str) -> ModelFailed:
    """Return the error of a model while the extra that reaches models is not installed."""
    return ModelFailed(
        f"{name} needs a package that is missing: run pip install 'reverie[models]'", kind="missing"
    )


def refused(name: str) -> ModelFailed:
    """Return the error of an answer that the model or its provider's filter withheld."""
    return ModelFailed(
        f"{name} refused to answer: what it was asked is kept, and another model may take it", kind="refused"
    )


def without_key(name: str, variable: str) -> ModelFailed:
    """Return the error of a key that is not where the settings say."""
    return ModelFailed(
        f"there is no key for {name}: set the environment variable {variable}, or name another in "
        "models.key_variable",
        kind="auth",
    )


def unusable(name: str, why: str) -> ModelFailed:
    """Return the error of an answer that came and cannot be used."""
    return ModelFailed(
        f"{name} {why}: it is asked again later; if that stays so, use another model", kind="unusable"
    )


def web_page(name: str, access: Access) -> ModelFailed:
    """Return the error of an address that leads to a page for people."""
    where = f"{access.host} answers" if access.host else "it was answered"
    return ModelFailed(
        f"{name} is not reached, {where} with a web page: check models.base_url, which often ends in /v1",
        kind="down",
    )


def too_large(name: str, access: Access) -> ModelFailed:
    """Return the error of an answer that was longer than is read."""
    return unusable(name, f"sent more than {access.largest:,} bytes, which were not read to their end")


def _missing(error: ImportError, name: str) -> ModelFailed:
    group = _GROUP.search(str(error))
    if group is None or group[1] in _OURS:
        return without_package(name)
    return ModelFailed(
        f"{name} needs a package that is missing: run pip install 'pydantic-ai-slim[{group[1]}]'",
        kind="missing",
    )


def _misnamed(error: Exception, name: str, *, access: Access) -> ModelFailed:
    """Return the error of a call that was never sent: no key, no such provider, an option it has not."""
    variable = _VARIABLE.search(str(error))
    if variable is not None:
        return without_key(name, access.key_variable or variable[0])
    return ModelFailed(
        f"there is no model {name}: write it as provider:name, such as openai:gpt-5-mini or ollama:qwen3",
        kind="no_such_model",
    )


def _told(error: ModelAPIError, name: str, *, access: Access) -> ModelFailed:
    """Return what a provider's own error means."""
    from pydantic_ai import exceptions as known

    status = getattr(error, "status_code", 0)
    said = _said(status, error.provider_error_code)
    if isinstance(error, known.ModelAuthenticationError):
        return ModelFailed(f"{name} refused the key{said}: {_another_key(name, access)}", kind="auth")
    if isinstance(error, known.ModelNotFoundError):
        like = getattr(error, "suggested_model_id", None)
        hint = f"perhaps {like} is meant; check `model`" if like else "check `model` and models.base_url"
        return ModelFailed(f"{name} is not known to its provider{said}: {hint}", kind="no_such_model")
    if isinstance(error, known.ModelQuotaExceededError):
        return ModelFailed(
            f"the account behind {name} has no credit left{said}: look at its billing page",
            kind="limit",
            retry_after=error.retry_after or _PATIENT,
        )
    if isinstance(error, known.ModelRateLimitError):
        return ModelFailed(
            f"{name} takes no more questions for now{said}: it is asked again when it allows",
            kind="limit",
            retry_after=error.retry_after,
        )
    told = f"{error.provider_error_code} {error.provider_error_type}"
    if isinstance(error, known.ModelContextWindowExceededError) or _TOO_LONG in told:
        return unusable(name, f"cannot take a question of this length{said}")
    if isinstance(error, known.ModelTimeoutError | known.ModelRequestTimeout):
        return _late(name, access)
    if isinstance(error, known.ModelRequestRejectedError):
        return ModelFailed(
            f"{name} does not accept the question{said}: try another model, or look in its provider's list",
            kind="refused",
        )
    if isinstance(error, known.ModelConnectionError):
        did = "broke off its answer" if error.phase == "read" else "cannot be reached"
        return ModelFailed(f"{name} {did}: {_check(access)}", kind="down")
    if status:
        return ModelFailed(
            f"{name} is out of order at its provider{said}: it is asked again in a while",
            kind="down",
            retry_after=error.retry_after,
        )
    return _strange(name, access)


def _late(name: str, access: Access) -> ModelFailed:
    return ModelFailed(
        f"{name} did not finish within {access.timeout:g} s: it is asked again in a while; for a slow machine raise "
        "models.timeout_seconds",
        kind="timeout",
    )


def _strange(name: str, access: Access) -> ModelFailed:
    return ModelFailed(
        f"{name} is answered for in a form that its API does not have: {_check(access)}", kind="down"
    )


def _another_key(name: str, access: Access) -> str:
    """Return where to put a key that is accepted."""
    if access.base_url and not access.key_variable:
        return "name the environment variable that holds one in models.key_variable"
    variable = access.key_variable or f"{name.partition(':')[0].upper().replace('-', '_')}_API_KEY"
    return f"set {variable} to one that may use this model"


def _said(status: int, code: str | None) -> str:
    """Return the status and the code of an answer, in brackets, where they are plain."""
    parts = [f"HTTP {status}"] if status else []
    if code and _CODE.fullmatch(code):
        parts.append(code)
    return f" ({', '.join(parts)})" if parts else ""


def _check(access: Access) -> str:
    """Return what to look at when a server does not answer as it should."""
    if access.base_url:
        return f"see that the server at {access.host or 'models.base_url'} runs, and check models.base_url"
    return "check the network and the provider's status page"
