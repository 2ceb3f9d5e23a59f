"""Which strings are secrets: one table of shapes, each with the literal it is found by and the check it must pass.

Owns the patterns of issued tokens and of headers and addresses that carry one; promises that every pattern is
anchored at a literal and bounded, so that a hostile text costs no more than its length; never searches a text.

A shape alone is not enough: `ghp_xxxxxxxx` is documentation. Random-looking means enough different characters
and more than one class of them; keys with check digits are checked in `core.secrets.numbers`.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable

import msgspec

from reverie.core.text.patterns import Words

_MIXED_RUN = Words(r"[A-Za-z0-9]{14,}")


class Shape(msgspec.Struct, frozen=True):
    """A kind of secret: matched where an anchor stands, group `secret` (else the whole match) is the secret.

    With `free` the anchor may stand inside a word; otherwise a letter, digit, `_` or `-` before it rules it out,
    which is also what keeps a run of repeated anchors from being scanned once for each of them. `back` is how
    many characters before the anchor the match may begin.
    """

    kind: str
    anchors: tuple[str, ...]
    pattern: Words
    check: Callable[[str], bool] = lambda _secret: True
    free: bool = False
    back: int = 0


def looks_random(secret: str) -> bool:
    """Tell whether a token has the variety of an issued one: 8 different characters, two classes of them."""
    classes = (
        any(c.isdigit() for c in secret) + any(c.islower() for c in secret) + any(c.isupper() for c in secret)
    )
    return len(set(secret)) >= 8 and classes >= 2  # noqa: PLR2004 - the two figures of the docstring


def _issued(secret: str) -> bool:
    """Tell whether a dashed token holds one unbroken random run (`sk-learn-contrib-2024` holds none)."""
    return any(looks_random(run) for run in _MIXED_RUN.findall(secret))


def _varied(secret: str) -> bool:
    return len(set(secret)) >= 6  # noqa: PLR2004 - hexadecimal and one-class tokens; `xxxx` and `0000` are not


def _basic_pair(secret: str) -> bool:
    """Tell whether base64 text decodes to `user:password`."""
    try:
        plain = base64.b64decode(secret + "=" * (-len(secret) % 4), validate=True)
    except (binascii.Error, ValueError):
        return False
    return b":" in plain[1:] and all(32 <= byte < 127 for byte in plain)  # noqa: PLR2004 - printable ASCII


def is_placeholder(value: str) -> bool:
    """Tell whether a value only says where a secret would stand: `<token>`, `${PW}`, `****`, `your-password`."""
    return _PLACEHOLDER.fullmatch(value) is not None or len(set(value)) <= 1


_PLACEHOLDER = Words(
    r"""(?ix) \[redacted:[a-z0-9-]{1,40}\] .{0,40}
      | <[^<>]{0,80}>? | \$\{?\w.{0,80} | \$\(.{0,80} | \{.{0,80}\}? | %\(?\w{0,40}\)?s? | %\w{1,40}%
      | [*x•.…_?#-]{2,} | [*•]{3,}.{0,40}
      | (?:your|my|the|an?|some|new|old|this|example|sample|dummy|fake|placeholder|insert|enter|change[-_ ]?me)
        (?:[-_ .]?(?:own|secret|api|db|user|access|auth|token|pass|word|passwd|pwd|key|here|goes|it|value|client))*
      | (?:redacted|hidden|masked|removed|todo|tbd|null|none|nil|undefined|true|false|n/a|secret|token|password)
    """
)


def _shape(kind: str, anchors: str, pattern: str, check: Callable[[str], bool] = looks_random) -> Shape:
    return Shape(kind, tuple(anchors.split()), Words(pattern), check)


_END = r"(?![A-Za-z0-9])"

TOKENS: tuple[Shape, ...] = (
    _shape("aws-key", "AKIA ASIA ABIA ACCA", r"A[A-Z]{3}[A-Z0-9]{16}(?![A-Za-z0-9_])", _varied),
    Shape(
        "aws-key",
        ("AKIA", "ASIA"),
        Words(
            r"A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9_])[\s\S]{1,80}?"
            r"(?<![A-Za-z0-9/+=])(?P<secret>[A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])"
        ),
        lambda secret: looks_random(secret) and secret.lower() != secret,
    ),
    _shape("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,255}+"),
    _shape("github-token", "github_pat_", r"github_pat_[A-Za-z0-9_]{50,255}+"),
    _shape(
        "gitlab-token",
        "glpat- gloas- gldt- glrt- glrtr- glptt- glft- glsoat- glcbt- glagent- glimt- glffct-",
        r"gl[a-z]{2,5}-[A-Za-z0-9_.-]{20,255}+",
    ),
    _shape("anthropic-key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,255}+", _issued),
    _shape("openai-key", "sk-", r"sk-(?!ant-)[A-Za-z0-9_-]{20,255}+", _issued),
    _shape("google-key", "AIza", r"AIza[A-Za-z0-9_-]{33,40}+(?![A-Za-z0-9_-])"),
    _shape("google-key", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,60}+"),
    _shape("google-key", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,1000}+"),
    _shape(
        "slack-token",
        "xoxa- xoxb- xoxc- xoxd- xoxe- xoxo- xoxp- xoxr- xoxs- xoxe.",
        r"xox[a-z][-.][A-Za-z0-9%._-]{10,255}+",
    ),
    _shape("slack-token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{20,255}+"),
    _shape("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,255}+"),
    _shape("stripe-key", "whsec_", r"whsec_[A-Za-z0-9+/=]{24,100}+"),
    _shape("twilio-key", "SK", rf"SK[0-9a-f]{{32}}{_END}"),
    _shape("sendgrid-key", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}+"),
    _shape("mailgun-key", "key-", rf"key-[0-9a-f]{{32}}{_END}"),
    _shape("npm-token", "npm_", rf"npm_[A-Za-z0-9]{{36}}{_END}"),
    _shape("pypi-token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{50,1000}+"),
    _shape("hf-token", "hf_ api_org_", rf"(?:hf_|api_org_)[A-Za-z0-9]{{30,64}}+{_END}"),
    Shape(
        "telegram-token",
        (":AA",),
        Words(r"(?<![A-Za-z0-9_-])[0-9]{8,10}:AA[A-Za-z0-9_-]{30,40}(?![A-Za-z0-9_-])"),
        looks_random,
        free=True,
        back=10,
    ),
    _shape(
        "jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{8,8000}+\.[A-Za-z0-9_-]{8,16000}+(?:\.[A-Za-z0-9_-]{0,8000}+){1,3}"
    ),
    _shape("age-key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,60}+"),
    _shape("aliyun-key", "LTAI", rf"LTAI[A-Za-z0-9]{{12,26}}+{_END}"),
    _shape("tencent-key", "AKID", rf"AKID[A-Za-z0-9]{{13,40}}+{_END}"),
    _shape("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"do[por]_v1_[a-f0-9]{64}"),
    _shape("databricks-token", "dapi", rf"dapi[a-f0-9]{{32}}(?:-\d)?{_END}"),
    _shape("shopify-token", "shpat_ shpca_ shppa_ shpss_", r"shp(?:at|ca|pa|ss)_[a-fA-F0-9]{32}"),
    _shape("grafana-token", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,400}+"),
    _shape("vault-token", "hvs. hvb.", r"hv[sb]\.[A-Za-z0-9_-]{24,300}+"),
    _shape("notion-token", "ntn_ secret_", rf"(?:ntn|secret)_[A-Za-z0-9]{{40,50}}+{_END}"),
    _shape(
        "api-key",
        "gsk_ xai- r8_ pplx- tvly- lin_api_ sbp_ figd_ PMAK- NRAK- dckr_pat_ HRKU- sntrys_ phc_ rnd_ fw_ pul- dp.pt.",
        r"(?:gsk_|xai-|r8_|pplx-|tvly-|lin_api_|sbp_|figd_|PMAK-|NRAK-|dckr_pat_|HRKU-|sntrys_|phc_|rnd_|fw_|pul-|dp\.pt\.)"
        r"[A-Za-z0-9_=-]{24,255}+",
        _issued,
    ),
)
"""Issued tokens, recognised by their prefix; anchors are case-sensitive."""

_SCHEME = r"(?P<user>[^\s/:@'\"<>`?#\[]{0,128})"
ADDRESSES: tuple[Shape, ...] = (
    Shape(
        "password",
        ("://",),
        Words(rf"://{_SCHEME}:(?P<secret>[^\s/'\"<>`]{{1,256}})@(?=[\w\[%$({{])"),
        lambda secret: not is_placeholder(secret),
        free=True,
    ),
    Shape("token", ("://",), Words(r"://(?P<secret>[A-Za-z0-9_-]{20,256})@(?=\w)"), looks_random, free=True),
    Shape(
        "webhook",
        ("hooks.slack.com/",),
        Words(r"hooks\.slack\.com/(?:services|workflows|triggers)/(?P<secret>[A-Za-z0-9/_-]{20,200})"),
        free=True,
    ),
    Shape(
        "webhook",
        ("/api/webhooks/",),
        Words(r"/api/webhooks/\d{5,25}/(?P<secret>[A-Za-z0-9_-]{30,120})"),
        free=True,
    ),
)
"""Secrets inside an address: only the secret is taken out, so scheme, user and host stay readable."""

HEADERS: tuple[Shape, ...] = (
    Shape(
        "bearer-token",
        ("bearer", "authorization"),
        Words(
            r"(?:bearer|authorization['\"]?\s{0,4}[:=]\s{0,4}['\"]?(?:bearer|token|bot|apikey)?)"
            r"[\s:=]{1,4}['\"]?(?P<secret>[A-Za-z0-9._~+/-]{16,4000}+=*)",
            fold=True,
        ),
        looks_random,
    ),
    Shape(
        "basic-auth",
        ("basic",),
        Words(r"basic\s{1,4}(?P<secret>[A-Za-z0-9+/]{8,400}+={0,2})", fold=True),
        _basic_pair,
    ),
    Shape(
        "basic-auth",
        ("curl ",),
        Words(
            r"curl(?: [^\n]{0,120}?)?\s(?:-u|--user)[ =]['\"]?[^\s:'\"]{1,64}:(?P<secret>[^\s'\"]{3,128})",
            fold=True,
        ),
        lambda secret: not is_placeholder(secret),
    ),
    Shape(
        "signature",
        ("x-amz-signature=", "x-goog-signature=", "x-amz-security-token="),
        Words(r"x-[a-z-]{5,30}=(?P<secret>[A-Za-z0-9%/+=]{32,2000}+)", fold=True),
        _varied,
        free=True,
    ),
)
"""Request headers and signed addresses; anchors are lower case and compared with lowered text."""
