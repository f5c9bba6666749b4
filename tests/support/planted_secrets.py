"""Keys of many kinds, made at random in their vendors' formats, and the places where a repo may hold them.

No key is real, and none stands here: hosts refuse commits with what looks like one.
"""

import base64
import json
import re
import string
from collections.abc import Callable, Iterator, Mapping
from random import Random
from urllib.parse import quote

from memosite.facts.values import Value, replace
from memosite.secrets import find_secrets

DIGITS, UPPER, LOWER = string.digits, string.ascii_uppercase, string.ascii_lowercase
LETTERS = UPPER + LOWER
ALNUM = LETTERS + DIGITS
WEB = ALNUM + "-_"
HEX = DIGITS + "abcdef"
UPPER32 = UPPER + "234567"


class Planted(Value):
    """A key, and what it is written with: a name that it is assigned to, or a text around it."""

    key: str
    name: str = ""
    before: str = ""
    after: str = ""

    def written(self, sign: str = "=") -> str:
        """The key with what it is written with."""
        return f"{self.name}{sign if self.name else ''}{self.before}{self.key}{self.after}"


class Place(Value, kw_only=False):
    """A text with a key, and where in it the key is."""

    text: str
    start: int
    end: int


class Maker:
    """Makes keys by chance, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        """Begin anew."""
        self.random = Random(seed)

    def some(self, alphabet: str, count: int) -> str:
        """Some characters of an alphabet."""
        return "".join(self.random.choices(alphabet, k=count))

    def uuid(self) -> str:
        """A random UUID."""
        return "-".join(self.some(HEX, count) for count in (8, 4, 4, 4, 12))

    def block(self, label: str) -> str:
        """A private key as PEM or armoured text."""
        lines = [self.some(ALNUM + "+/", 64) for _ in range(12)]
        return "\n".join([f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"])

    def web_token(self) -> str:
        """A signed JSON web token."""
        parts = (b'{"alg":"HS256","typ":"JWT"}', f'{{"sub":"{self.some(DIGITS, 10)}","iat":1716239022}}'.encode())
        encoded = (base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
        return ".".join((*encoded, self.some(WEB, 43)))


KINDS: Mapping[str, Callable[[Maker], Planted]] = {
    "AWS access key id": lambda m: Planted(key="AK" + "IA" + m.some(UPPER32, 16)),
    "AWS temporary key id": lambda m: Planted(key="AS" + "IA" + m.some(UPPER32, 16)),
    "AWS secret access key": lambda m: Planted(name="AWS_SECRET_ACCESS_KEY", key=m.some(ALNUM + "+/", 40)),
    "GitHub token, classic": lambda m: Planted(key="gh" + "p_" + m.some(ALNUM, 36)),
    "GitHub token, fine-grained": lambda m: Planted(
        key="github" + "_pat_" + m.some(ALNUM, 22) + "_" + m.some(ALNUM, 59)
    ),
    "GitHub app token": lambda m: Planted(key="gh" + "s_" + m.some(ALNUM, 36)),
    "GitHub OAuth token": lambda m: Planted(key="gh" + "o_" + m.some(ALNUM, 36)),
    "GitHub refresh token": lambda m: Planted(key="gh" + "r_" + m.some(ALNUM, 76)),
    "GitLab token": lambda m: Planted(key="gl" + "pat-" + m.some(ALNUM, 20)),
    "Slack bot token": lambda m: Planted(
        key="xox" + f"b-{m.some('123456789', 12)}-{m.some('123456789', 12)}-{m.some(ALNUM, 24)}"
    ),
    "Slack user token": lambda m: Planted(
        key="xox" + "p-" + "-".join(m.some("123456789", 12) for _ in range(3)) + "-" + m.some(HEX, 32)
    ),
    "Slack webhook": lambda m: Planted(
        before="https://hooks.slack.com/services/",
        key=f"T{m.some(UPPER + DIGITS, 10)}/B{m.some(UPPER + DIGITS, 10)}/{m.some(ALNUM, 24)}",
    ),
    "Stripe secret key": lambda m: Planted(key="sk" + "_live_" + m.some(ALNUM, 99)),
    "Stripe restricted key": lambda m: Planted(key="rk" + "_live_" + m.some(ALNUM, 24)),
    "Google API key": lambda m: Planted(key="AI" + "za" + m.some(WEB, 34) + m.some(ALNUM, 1)),
    "Google service account": lambda m: Planted(
        before='{"type": "service_account", "private_key": "',
        key=m.block("PRIVATE KEY").replace("\n", "\\n"),
        after='\\n"}',
    ),
    "Azure storage key": lambda m: Planted(
        before="DefaultEndpointsProtocol=https;AccountName=memos;AccountKey=",
        key=m.some(ALNUM + "+/", 85) + "Q==",
        after=";EndpointSuffix=core.windows.net",
    ),
    "Azure client secret": lambda m: Planted(key=m.some(ALNUM, 3) + "8" + "Q~" + m.some(ALNUM, 34)),
    "OpenAI key": lambda m: Planted(key="sk" + "-proj-" + m.some(WEB, 74) + "T3Blbk" + "FJ" + m.some(ALNUM, 74)),
    "OpenAI key, older": lambda m: Planted(key="sk" + "-" + m.some(ALNUM, 20) + "T3Blbk" + "FJ" + m.some(ALNUM, 20)),
    "Anthropic key": lambda m: Planted(key="sk" + "-ant-api03-" + m.some(WEB, 93) + "AA"),
    "Anthropic admin key": lambda m: Planted(key="sk" + "-ant-admin01-" + m.some(WEB, 93) + "AA"),
    "Claude Code token": lambda m: Planted(key="sk" + "-ant-oat01-" + m.some(WEB, 94) + m.some(ALNUM, 1)),
    "Claude Code refresh token": lambda m: Planted(key="sk" + "-ant-ort01-" + m.some(WEB, 94) + m.some(ALNUM, 1)),
    "Claude session key": lambda m: Planted(key="sk" + "-ant-sid01-" + m.some(WEB, 85) + m.some(ALNUM, 1)),
    "Anthropic key to come": lambda m: Planted(key="sk" + "-ant-abc12-" + m.some(WEB, 59) + m.some(ALNUM, 1)),
    "Hugging Face token": lambda m: Planted(key="h" + "f_" + m.some(LETTERS, 34)),
    "npm token": lambda m: Planted(key="np" + "m_" + m.some(ALNUM, 36)),
    "PyPI token": lambda m: Planted(key="py" + "pi-AgEIcHlwaS5vcmc" + m.some(WEB, 149) + m.some(ALNUM, 1)),
    "Docker Hub token": lambda m: Planted(key="dckr" + "_pat_" + m.some(ALNUM, 27)),
    "Twilio key": lambda m: Planted(key="S" + "K" + m.some(HEX, 32)),
    "Twilio auth token": lambda m: Planted(name="TWILIO_AUTH_TOKEN", key=m.some(HEX, 32)),
    "SendGrid key": lambda m: Planted(key="S" + "G." + m.some(ALNUM, 22) + "." + m.some(ALNUM, 43)),
    "Mailgun key": lambda m: Planted(key="key" + "-" + m.some(HEX, 32)),
    "Mailchimp key": lambda m: Planted(key=m.some(HEX, 32) + "-us" + "12"),
    "Telegram bot token": lambda m: Planted(key=m.some("123456789", 10) + ":A" + "A" + m.some(ALNUM, 33)),
    "Discord bot token": lambda m: Planted(
        key=".".join(("M" + m.some(ALNUM, 25), m.some(ALNUM, 6), m.some(ALNUM, 38)))
    ),
    "Discord webhook": lambda m: Planted(
        before="https://discord.com/api/webhooks/", key=m.some("123456789", 18) + "/" + m.some(ALNUM, 68)
    ),
    "Datadog API key": lambda m: Planted(name="DD_API_KEY", key=m.some(HEX, 32)),
    "Datadog application key": lambda m: Planted(name="DD_APP_KEY", key=m.some(HEX, 40)),
    "New Relic key": lambda m: Planted(key="NR" + "AK-" + m.some(UPPER + DIGITS, 27)),
    "Sentry user token": lambda m: Planted(key="sn" + "tryu_" + m.some(HEX, 64)),
    "Shopify token": lambda m: Planted(key="sh" + "pat_" + m.some(HEX, 32)),
    "Square token": lambda m: Planted(key="sq0" + "atp-" + m.some(ALNUM, 22)),
    "PayPal client secret": lambda m: Planted(name="PAYPAL_CLIENT_SECRET", key="E" + m.some(ALNUM, 79)),
    "Heroku key": lambda m: Planted(name="HEROKU_API_KEY", key=m.uuid()),
    "Heroku key, newer": lambda m: Planted(key="HR" + "KU-AA" + m.some(ALNUM, 58)),
    "DigitalOcean token": lambda m: Planted(key="dop" + "_v1_" + m.some(HEX, 64)),
    "Cloudflare token": lambda m: Planted(name="CLOUDFLARE_API_TOKEN", key=m.some(ALNUM, 40)),
    "Cloudflare origin key": lambda m: Planted(key="v1" + ".0-" + m.some(HEX, 24) + "-" + m.some(HEX, 146)),
    "Vault token": lambda m: Planted(key="hv" + "s." + m.some(ALNUM, 92)),
    "Databricks token": lambda m: Planted(key="da" + "pi" + m.some(HEX, 32)),
    "Atlassian token": lambda m: Planted(key="ATA" + "TT3xFfGF0" + m.some(ALNUM, 171) + "=" + m.some(HEX.upper(), 8)),
    "Linear key": lambda m: Planted(key="lin" + "_api_" + m.some(ALNUM, 40)),
    "Notion token": lambda m: Planted(key="nt" + "n_" + m.some("123456789", 11) + m.some(ALNUM, 35)),
    "Figma token": lambda m: Planted(key="fi" + "gd_" + m.some(ALNUM, 40)),
    "Postman key": lambda m: Planted(key="PM" + "AK-" + m.some(HEX, 24) + "-" + m.some(HEX, 34)),
    "Terraform Cloud token": lambda m: Planted(key=m.some(ALNUM, 14) + ".atlas" + "v1." + m.some(ALNUM, 67)),
    "Grafana token": lambda m: Planted(key="gl" + "sa_" + m.some(ALNUM, 32) + "_" + m.some(HEX, 8)),
    "Tailscale key": lambda m: Planted(key="ts" + "key-auth-" + m.some(ALNUM, 17) + "-" + m.some(ALNUM, 32)),
    "Groq key": lambda m: Planted(key="gs" + "k_" + m.some(ALNUM, 52)),
    "RubyGems key": lambda m: Planted(key="ruby" + "gems_" + m.some(HEX, 48)),
    "age secret key": lambda m: Planted(key="AGE-SECRET" + "-KEY-1" + m.some("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "RSA private key": lambda m: Planted(key=m.block("RSA PRIVATE KEY")),
    "EC private key": lambda m: Planted(key=m.block("EC PRIVATE KEY")),
    "OpenSSH private key": lambda m: Planted(key=m.block("OPENSSH PRIVATE KEY")),
    "PGP private key": lambda m: Planted(key=m.block("PGP PRIVATE KEY BLOCK")),
    "JSON web token": lambda m: Planted(key=m.web_token()),
    "database address": lambda m: Planted(
        before="postgresql://app:", key=m.some(ALNUM, 16), after="@db.example.org:5432/memos"
    ),
    "address with password": lambda m: Planted(
        before="https://bob:", key=m.some(ALNUM, 16), after="@example.org/memos"
    ),
    "password": lambda m: Planted(name="password", key=m.some(ALNUM, 18)),
    "API key": lambda m: Planted(name="api_key", key=m.some(ALNUM, 32)),
    "cookie": lambda m: Planted(before="Cookie: theme=dark; sid=", key=m.some(ALNUM, 26), after="; lang=en"),
    "cookie that is set": lambda m: Planted(before="Set-Cookie: sid=", key=m.some(ALNUM, 26), after="; Path=/"),
    "cookie of curl": lambda m: Planted(before="curl -s --cookie sid=", key=m.some(ALNUM, 26), after=" example.org"),
    "password of docker": lambda m: Planted(
        before="docker login -u bob -p ", key=m.some(ALNUM, 16), after=" example.org"
    ),
    "password of a shell": lambda m: Planted(before="sshpass -p ", key=m.some(ALNUM, 16), after=" ssh bob@example.org"),
    "password hash": lambda m: Planted(before="bob:", key="$2y" + "$12$" + m.some(ALNUM, 53), after=":19700:0:"),
    "password hash, crypt": lambda m: Planted(before="bob:", key="$6$" + m.some(ALNUM, 16) + "$" + m.some(ALNUM, 86)),
    "line of .pgpass": lambda m: Planted(before="db.example.org:5432:memos:bob:", key=m.some(ALNUM, 16)),
    "private JSON web key": lambda m: Planted(
        before='{"kty": "OKP", "crv": "Ed25519", "d": "', key=m.some(ALNUM, 43), after='"}'
    ),
    "bearer token": lambda m: Planted(before="Authorization: Bearer ", key=m.some(ALNUM, 40)),
}

FORMS: Mapping[str, str] = {
    "Airtable, OAuth": "oa·a{A14}.v1.{W60}.{H64}", "Alchemy": "alc·ht_{A30}", "Asaas": "aa·ct_prod_{A160}",
    "BitGo": "v2·x{H64}", "Block Protocol": "b10c·k5.{H32}.{U}", "Budibase": "{H32}-{H79}", "Buildkite": "bk·ct_{A60}",
    "Cfx.re": "cfx·k_{A20}_{A6}", "Chief Tools": "ct·p_{A36}", "CircleCI": "CCI·PAT_{A22}_{H40}",
    "Continue": "co·n_{H64}",
    "Databricks, scoped": "dk·ea{H32}", "Deno, organization": "dd·w_{A36}", "Discord, user": "mf·a.{W83}{A1}",
    "Ditto": "{U}.{L40}", "Dynatrace": "dt·0s16.{C24}.{C64}", "eBay": "PR·D-{H12}-{H4}-{H4}-{H4}-{H4}",
    "FireHydrant": "fh·b-{H64}", "Flexport": "shl·tm_{W39}{A1}", "Google, storage": "GO·OG1E{C57}",
    "Google, storage of a user": "GO·OG{C20}", "hCaptcha": "E·S_{H32}", "Hex": "hx·tp_{H64}",
    "Honeybadger": "hb·p_{A36}",
    "Hugging Face": "h·f_{A34}", "incident.io": "in·c_{H64}", "JSR": "jsr·p_{A40}", "LangSmith, old": "l·s__{H32}",
    "Lichess": "li·o_{A32}", "Limbar": "li·m_{A40}", "Microsoft, refresh": "0·.A{W79}{A1}.Ag{W299}{A1}",
    "Naver": "ncp·_iam_{A32}", "New Relic, browser": "NR·BR-{A19}", "New Relic, license": "eu01xx{H30}NR·AL",
    "Nightfall": "N·F-{A32}", "Notify": "gcn·tfy-prod-{U}-{U}", "NVIDIA, old": "{L26}:{U}", "Octopus": "AP·I-{C27}",
    "Open VSX": "ovs·xat_{U}", "Ory": "or·y_pat_{A32}", "PagerDuty": "pd·us+_0XBPWQQ_{U}",
    "Planning Center": "pc·o_pat_{H72}", "Polar": "pol·ar_cs_{A43}", "Portainer": "pt·r_{A43}=",
    "PostHog": "ph·s_{A43}",
    "Prefect": "pn·b_{A36}", "Rapyd": "rs·k_{A40}", "Raycast": "rc·a_{A64}", "Recharge": "sk·_test_10x3_{H64}",
    "Render": "rn·d_{A32}", "Retool": "reto·ol_{A40}", "Samsara": "samsara·_oauth_{A30}",
    "Sentry, integration": "sntr·yi_{H64}",
    "Shopee": "sh·pk{A60}", "Shopify, marketplace": "sh·pmk_{H32}", "Sourcegraph, dotcom": "sg·d_{H64}",
    "Stytch": "secret·-live-{W35}{A1}=", "Sumsub": "sb·x:{A24}.{A32}", "Supabase, OAuth": "sb·p_oauth_{H40}",
    "Tatum": "t·-{H24}-{H24}", "Ticket Tailor": "sk·_1234_567890_{H32}", "Tines": "tin·es.com/webhook/{H32}/{H32}",
    "TruffleHog": "thog·-secret-{L32}", "Unleash": "default:production.{H56}", "Warp": "wk·-1.{H64}",
    "Windsurf": "sk·-ws-01-{A80}", "ZenHub": "zh·_{H64}",
    "Adafruit": "ai·o_{A28}", "Anyscale": "esec·ret_{A26}", "Arize": "ak·-{U}-{A32}",
    "Amazon, Bedrock, short": "AB·SK{A120}",
    "Atlassian, scoped": "ATS·TT3xFfGF0{A120}", "Bannerbear": "bb·_pr_{H30}", "Cashfree": "cfsk·_ma_prod_{H32}_{H8}",
    "Checkout.com": "sk·_{U}", "CodeRabbit": "cr·-{H60}", "Column": "live·_{A27}",
    "Contentstack": "cs·{H32}",
    "Courier": "pk·_prod_{A28}", "Coveo": "xx·{U}", "Databento": "db·-{A29}", "dbt": "dbt·u_{A43}",
    "Depot": "depot·_project_{H64}",
    "Endor Labs": "end·r+{A16}", "Finage": "API·_KEY{C32}", "Fleetbase": "flb·_live_{A20}",
    "Flutterwave": "FLW·SECK-{H32}-X",
    "FullStory": "na·1.{A80}", "Gitea": "gt·a_{H40}", "Gitpod": "gitpod·_pat_{A60}", "GoCardless": "live·_{A40}",
    "Heroku": "HR·KU-{A58}",
    "Hugging Face, organization": "api·_org_{A34}", "ImageKit": "priv·ate_{A26}=", "Intercom": "dG·9rO{A54}=",
    "JumpCloud": "jc·a_{A36}",
    "LangSmith": "ls·v2_pt_{H32}_{H10}", "LocalStack": "ls·-{A8}-{A4}-{A4}-{A4}-{A12}", "LocationIQ": "pk·.{H32}",
    "LogicMonitor": "lm·b_{A80}",
    "Luma": "lu·ma-{U}-{U}", "Metabase": "mb·_{A43}=", "Midtrans": "Mid·-server-{A24}", "Nylas": "ny·k_v0_{A64}",
    "Onfido": "api·_live.{A11}.{A32}", "Pagar.me": "ak·_live_{A30}", "Pinterest": "pin·a_{A40}", "PubNub": "sec·-c-{U}",
    "Pydantic": "py·lf_v1_us_{A43}", "Robinhood": "rh·-api-{U}", "SaladCloud": "salad·_cloud_user_{A32}",
    "Scrapfly": "scp·-live-{H32}",
    "Sourcegraph": "sl·k_{H64}", "StackHawk": "ha·wk.{A20}.3{A19}", "Stripe, of a payment": "pi·_{A24}_secret_{A25}",
    "Teamwork": "tk·n.v1_{A71}=",
    "Temporal": "tm·prl_{A40}", "Tinybird": "p.ey·J1Ijog{A60}.{A43}", "Trello": "AT·TA{H64}", "Ubidots": "BB·FF-{A30}",
    "Vercel, files": "vercel·_blob_rw_{A16}_{A30}", "Voiceflow": "VF·.DM.{H24}.{A16}", "WakaTime": "waka·_{U}",
    "Weights & Biases": "wandb·_v1_{A60}",
    "Workato": "wr·kus-{A60}1", "Zoho": "10·00.{H32}.{H32}",
    "Adobe": "p8·e-{A32}", "Aikido": "AIK·_SECRET_{A64}", "Aiven": "AV·NS_{W18}{A1}", "Alibaba": "LT·AI5t{A18}",
    "Amazon, AppSync": "da·2-{L26}", "Amazon, Bedrock": "bedrock·-api-key-{A90}",
    "Amazon, marketplaces": "amzn·.mws.{U}", "Amp": "sgamp·_user_{A60}", "Apify": "apify·_api_{A36}",
    "Artifactory": "cm·Vmd{A59}", "Asana": "2/{D16}/{D16}:{H32}", "Axiom": "xa·at-{U}",
    "Azure, container registry": "{A42}+AC·RA{A5}", "Azure, cosmos": "{A76}AC·Db{A6}==",
    "Azure, events": "{A33}+AE·hB{A5}=", "Azure, functions": "{A44}Az·Fu{A5}A==", "Azure, redis": "{A33}Az·CaA{A5}=",
    "Azure, search": "{A42}Az·SeA{A5}", "Azure, storage": "{A76}+A·St{A6}==",
    "Azure DevOps": "{A52}JQ·QJ99BAACAAAAAAA{A9}AZ·DO{A4}", "Baidu": "bce-v3/AL·TAK-{A21}/{H40}",
    "Braintree": "access·_token$production${L16}${H32}", "Brevo": "xsmtp·sib-{H64}-{A16}",
    "Browserbase": "bb·_live_{A27}", "Cal.com": "cal·_live_{H32}", "Canva": "cn·vca{A51}", "Checkly": "cu·_{H32}",
    "ClickHouse": "4b·1d{A38}", "ClickUp": "pk·_{D8}_{C32}", "Cloudflare": "cf·ut_{A48}",
    "Contentful": "CF·PAT-{W42}{A1}", "Cursor": "cr·sr_{H64}", "Databricks": "do·se{H32}", "DeepSeek": "sk·-{H32}",
    "Defined": "dn·key-{C26}-{C52}", "Doppler": "dp·.st.prd.{A43}", "E2B": "e2·b_{H40}", "ElevenLabs": "sk·_{H48}",
    "Exoscale": "EX·O{H24}", "Figma": "fi·go_{A40}", "Firecrawl": "fc·-{H32}", "Fireworks": "fw·_{A24}",
    "Google": "AQ·.Ab8R{W45}{A1}", "Grafana": "gl·c_{A60}", "Harness": "pa·t.{A22}.{H24}.{A20}",
    "Honeycomb": "hcaik·_01{L56}", "HubSpot": "pat·-na1-{U}", "Infisical": "st·.{H24}.{H32}.{H32}",
    "Inngest": "signkey·-prod-{H64}", "Jina": "jina·_{A60}", "Klaviyo": "pk·_{H34}", "Langfuse": "sk·-lf-{U}",
    "LaunchDarkly": "sdk·-{U}", "Linear": "lin·_oauth_{H64}", "LinkedIn": "WPL·_AP1.{A16}.{A8}", "Lob": "live·_{H35}",
    "Mailgun": "{H32}-{H8}-{H8}", "Mem0": "m0·-{A40}", "Mercado Pago": "APP·_USR-{D16}-{D6}-{H32}-{D9}",
    "Modal": "as·-{A22}", "MongoDB": "mdb·_sa_sk_{W39}{A1}", "Moonshot": "sk·-{A48}", "Netlify": "nf·p_{A40}",
    "NuGet": "oy·2{L43}", "OneSignal": "os·_v2_app_{B104}", "Plaid": "access·-production-{U}",
    "PyPI, tests": "py·pi-AgENdGVzdC5weXBpLm9yZw{A80}", "Ramp": "ramp·_sec_{A48}", "OpenAI, refresh": "rt·_{W80}{A1}",
    "RapidAPI": "{A10}m·sh{A15}p1{A6}j·sn{A12}", "Razorpay": "rz·p_live_{A14}", "Resend": "re·_{A8}_{A24}",
    "RunPod": "rp·a_{C40}", "Salesforce": "00·D{A12}!{A96}", "Scaleway": "SC·W{C17}",
    "Sentry": "sn·trys_eyJ{A100}_{A43}", "Shopify": "sh·pua_{H32}", "Slack, refresh": "xo·xe-1-{A140}",
    "Snowflake": "ver:1-hint:{D8}-ET·Ms{A40}", "SonarQube": "sq·u_{H40}", "Square": "sq0·csp-{A43}",
    "Square, access": "EA·AA{W59}{A1}", "Statsig": "secret·-{A43}", "Tavily": "tv·ly-dev-{A32}",
    "Telnyx": "KE·Y0{X31}_{A22}", "Tencent": "AK·ID{A32}", "Trigger.dev": "tr·_prod_{A20}",
    "Typeform": "tf·p_{A44}_{A14}", "Vercel": "vc·p_{A56}", "Volcano Engine": "AK·LT{A44}",
    "WooCommerce": "cs·_{H40}", "Yandex": "AQ·VN{W34}{A1}", "nostr": "ns·ec1{Q58}", "wallet": "xp·rv{Z107}",
    "Asana, any characters": "1/·{D17}:{A32}", "Atlassian, shorter": "ATC·TT3xFfG{A40}={A8}",
    "Baremetrics": "lk·_{A14}3Q7fZ9bX",
    "Apify, with a dash": "apify·_api_{A17}-{A18}", "Brevo, any characters": "xkey·sib-{W80}{A1}",
    "Checkout.com, capitals": "sk·_{X8}-{X4}-{X4}-{X4}-{X12}", "CircleCI, capitals": "CCI·PAT_{A22}_{X40}",
    "Courier, any project": "pk·_staging2_{A26}47", "Docker, of an organization": "dckr·_oat_{W31}{A1}",
    "Duffel": "duffel·_live_{W53}{A1}", "EcoStruxure IT": "AK·1{A53}", "Figma, of a project": "fi·gp_{A20}={A30}",
    "GitHub, with a sign": "gh·p_{A20}_{A20}", "GitLab, with a sign": "gl·pat-{A5}={A13}7",
    "Google, short": "ya·29.{W25}{A1}", "HubSpot, any characters": "pat·-eu1-{A8}-{A4}-{A4}-{A4}-{A12}",
    "IEX": "sk·_{L32}", "JSON web token, another text": "eyJ0eX·AiOiJKV1QiLCJhbGciOiJIUzI1NiJ9.{A74}.{A43}",
    "JSON web token, encrypted": "eyJhbGci·OiJkaXIiLCJlbmMiOiJBMjU2R0NNIn0..{A16}.{A90}.{A22}",
    "Klaviyo, any characters": "pk·_{A34}", "LaunchDarkly, any characters": "api·-{L8}-{L4}-{L4}-{L4}-{L12}",
    "Microsoft Teams": "webhook·.office.com/webhookb2/{U}@{U}/IncomingWebhook/{H32}/{U}",
    "Netlify, with a sign": "nf·p_{A10}_{A25}", "Postman, any characters": "PM·AK-{A24}-{A34}",
    "PubNub, of subscribers": "sub·-c-{L8}-{L4}-{L4}-{L4}-{L12}", "Pulumi, any characters": "pu·l-{L40}",
    "RubyGems, any characters": "ruby·gems_{A48}", "Salesblink": "key·-{A64}",
    "SendGrid, shorter": "S·G.{A20}.{W40}{A1}",
    "Square, any kind": "sq0·cbx-{A45}", "Telnyx, any characters": "KE·Y{A55}",
    "Tines, any characters": "tin·es.com/webhook/{L32}/{L32}", "Voiceflow, old": "V·F.{X24}.{A16}",
    "Zapier": "hooks·.zapier.com/hooks/catch/{D8}/{L7}",
    "Bitbucket, with a sign": "AT·BB{A10}_{A6}={A8}{X8}",
    "Grafana, older": "gl·sa_{A20}_{A20}", "ngrok": "2·{A26}_{D1}{A20}", "Photoroom": "sand·box_sk_pr_{A20}_{H40}",
    "Replicate, with a sign": "r·8_{A20}-{A16}", "Robinhood, capitals": "rh·-api-{X8}-{X4}-{X4}-{X4}-{X12}",
    "SaladCloud, short": "salad·_cloud_{A3}_{A9}7", "Salesforce, refresh": "5A·ep861{A60}.{A20}", "Sanity": "s·k{A79}",
    "Webex, bot": "{A64}_{A4}_{A8}-{A4}-{A4}-{A4}-{A12}",
}  # fmt: skip
"""Of vendors, how their keys look: what does not change, and how many characters of which alphabet. The dot is for
scanners, which would take this file for a leak."""

HASHES: Mapping[str, str] = {
    "argon2id": "$argon2id$v=19$m=65536,t=3,p=4${A22}${A43}", "argon2i": "$argon2i$v=19$m=4096,t=3,p=1${A16}${A43}",
    "phpass": "$P$B{S29}{A1}", "phpass, phpBB": "$H$9{S29}{A1}", "Drupal": "$S$D{S50}{A1}",
    "bcrypt": "$2b$12${S52}{A1}",
    "scrypt": "$7$C6..../....{S22}${S42}{A1}", "scrypt, modular": "$scrypt$ln=16,r=8,p=1${A22}${A43}",
    "yescrypt": "$y$j9T${S22}${S42}{A1}", "gost-yescrypt": "$gy$j9T${S22}${S42}{A1}", "md5crypt": "$1${A8}${S21}{A1}",
    "sha256crypt": "$5$rounds=5000${A16}${S42}{A1}", "sha512crypt": "$6${A16}${S85}{A1}",
    "sha1crypt": "$sha1$480000${A8}${S27}{A1}",
    "Apache": "$apr1${A8}${S21}{A1}", "Solaris": "$md5,rounds=904${A8}$${S21}{A1}", "Cisco, 8": "$8${S14}${S42}{A1}",
    "Cisco, 9": "$9${S14}${S42}{A1}", "Passlib": "$pbkdf2-sha512$25000${A22}${A86}",
    "bcrypt-sha256": "$bcrypt-sha256$v=2,t=2b,r=12${A22}${A31}",
    "MySQL 8": "$A$005${A20}{A43}", "Windows, modular": "$3$${H32}",
    "Kerberos": "$krb5tgs$23$*svc$CORP$http/web*${H32}${H200}",
    "Django": "pbkdf2_sha256$260000${A22}${A43}", "Django, argon2": "argon2$argon2id$v=19$m=102400,t=2,p=8${A22}${A43}",
    "Django, bcrypt": "bcrypt_sha256$$2b$12${S52}{A1}", "Django, scrypt": "scrypt$16384${A22}$8$1${A86}",
    "Django, old": "sha1${A12}${H40}",
    "Werkzeug": "scrypt:32768:8:1${A16}${H128}", "Werkzeug, pbkdf2": "pbkdf2:sha256:600000${A16}${H64}",
    "PostgreSQL, old": "md5{H32}",
    "PostgreSQL": "SCRAM-SHA-256$4096:{A22}==${A43}=:{A43}", "LDAP": "{SSHA}{A32}", "SQL Server": "0x0200{X136}",
}  # fmt: skip
"""Hashes of passwords, as `FORMS`."""

_ALPHABETS = {
    "A": ALNUM, "S": ALNUM + "./", "W": WEB, "H": HEX, "X": HEX.upper(), "D": "123456789", "L": LOWER + DIGITS,
    "C": UPPER + DIGITS,
    "B": LOWER + "234567", "Q": "qpzry9x8gf2tvdw0s3jn54khce6mua7l",
    "Z": "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz",
}  # fmt: skip


def of_form(form: str, maker: Maker) -> str:
    """A key of a form."""
    made = re.sub(r"\{([A-Z])(\d+)\}", lambda part: maker.some(_ALPHABETS[part[1]], int(part[2])), form)
    return made.replace("{U}", maker.uuid()).replace("·", "")


Encode = Callable[[str], str]


def _in_json(text: str) -> str:
    return json.dumps(text)[1:-1]


def _slashed(text: str) -> str:
    return _in_json(text).replace("/", "\\/")


def _percent(text: str) -> str:
    return quote(text, safe="")


def _all_percent(text: str) -> str:
    return "".join(f"%{byte:02X}" for byte in text.encode())


def _marked(text: str) -> str:
    return re.sub(r"([_*~-])", r"\\\1", text)


def _place(prefix: str, planted: Planted, suffix: str, *, encode: Encode = str, sign: str = "=") -> Place:
    whole = planted.written(sign)
    at = whole.index(planted.key)
    before = prefix + encode(whole[:at])
    key = encode(planted.key)
    return Place(before + key + encode(whole[at + len(planted.key) :]) + suffix, len(before), len(before) + len(key))


def _base64(prefix: str, planted: Planted, suffix: str, *, inner: str = "{}") -> Place:
    encoded = base64.b64encode(inner.format(planted.written()).encode()).decode()
    return Place(f"{prefix}{encoded}{suffix}", len(prefix), len(prefix) + len(encoded))


def _split(planted: Planted, joint: str) -> Place:
    """The key is split in its middle, which is no line break of its own."""
    middle = len(planted.key) // 2
    while "\n" in planted.key[middle - 4 : middle + 4] or "\\" in planted.key[middle - 4 : middle + 4]:
        middle += 1
    broken = planted.key[:middle] + joint + planted.key[middle:]
    before = "The key is " + planted.written().partition(planted.key)[0]
    return Place(before + broken + planted.after + "\n\nRotate it.\n", len(before), len(before) + len(broken))


def _escaped(planted: Planted, number: int) -> Place:
    r"""One character of the key is written as `\u0041`."""
    prefix = '{"body": "The key is ' + _in_json(planted.written().partition(planted.key)[0])
    character = planted.key[number]
    key = _in_json(planted.key[:number]) + f"\\u{ord(character):04x}" + _in_json(planted.key[number + 1 :])
    return Place(f'{prefix}{key}{_in_json(planted.after)}"}}', len(prefix), len(prefix) + len(key))


def _cell(planted: Planted) -> Place:
    if planted.name:
        return _place("| name | value |\n|---|---|\n| ", planted, " |\n", sign=" | ")
    return _place("| name | value |\n|---|---|\n| deploy | ", planted, " |\n")


def _yaml(planted: Planted) -> Place:
    if "\n" in planted.key:
        lines = planted.written().replace("\n", "\n    ")
        return Place(f"key: |\n    {lines}\nnext: 1\n", 11, 11 + len(lines))
    if planted.name:
        return _place("service:\n  ", planted, "\n  replicas: 2\n", sign=": ")
    return _place("service:\n  value: ", planted, "\n  replicas: 2\n")


PLACES: Mapping[str, Callable[[Planted], Place]] = {
    "memo text": lambda p: _place("The key is ", p, " and we use it.\n"),
    "end of a sentence": lambda p: _place("It was ", p, ". Rotate it.\n"),
    "inline code": lambda p: _place("Use `", p, "` for it.\n"),
    "bold": lambda p: _place("Use **", p, "** for it.\n"),
    "quotation": lambda p: _place("Then “", p, "” was said.\n"),
    "code fence": lambda p: _place("```sh\n", p, "\n```\n"),
    "table cell": _cell,
    "Markdown escapes": lambda p: _place("The key is ", p, " and we use it.\n", encode=_marked),
    "JSON string": lambda p: _place('{"body": "Rotate:\\n', p, '\\nToday."}', encode=_in_json),
    "JSON, quoted": lambda p: _place('{"body": "It is \\"', p, '\\"."}', encode=_in_json),
    "JSON, slashes escaped": lambda p: _place('{"body": "see \\/', p, ' today"}', encode=_slashed),
    "JSON, \\u003d before": lambda p: _place('{"body": "value\\u003d', p, ' today"}', encode=_in_json),
    "JSON, \\u0041 at start": lambda p: _escaped(p, 0),
    "JSON, \\u0041 inside": lambda p: _escaped(p, len(p.key) // 2),
    "JSON in JSON": lambda p: _place(
        '{"result": "{\\"out\\": \\"', p, '\\\\n\\"}"}', encode=lambda text: _in_json(_in_json(text)),
    ),
    "tool output": lambda p: _place("$ env\nHOME=/home/ann\n", p, "\nLANG=C.UTF-8\n"),
    ".env line": lambda p: _place("# local\nexport " if p.name else "# local\nVALUE=", p, "\nPORT=80\n"),
    "YAML": _yaml,
    "base64 alone": lambda p: _base64("", p, ""),
    "base64 in a text": lambda p: _base64("It is ", p, ", I think.\n"),
    "base64 of a text": lambda p: _base64("data: ", p, "\n", inner="The key is {} and we use it.\n"),
    "URL query": lambda p: _place(
        "See https://api.example.org/v1?" if p.name else "See https://api.example.org/v1?k=", p, "&n=2.\n",
        encode=lambda text: quote(text, safe="="),
    ),
    "URL userinfo": lambda p: _place(
        "git clone https://ann:" if p.name else "git clone https://", replace(p, name=""), "@example.org/memos.git\n",
        encode=_percent,
    ),
    "percent-encoded": lambda p: _place("https://example.org/?next=", p, "&n=2\n", encode=_percent),
    "all percent-encoded": lambda p: _place("https://example.org/?next=", p, "&n=2\n", encode=_all_percent),
    "split, indented": lambda p: _split(p, "\n    "),
    "split, backslash": lambda p: _split(p, "\\\n"),
    "split, \\n in JSON": lambda p: _split(p, "\\n"),
    "file name": lambda p: _place("notes/", p, ".md"),
    "branch name": lambda p: _place("fix/", p, ""),
    "commit message": lambda p: _place("Rotate a key\n\nThe old one was ", p, "\n\nReviewed-by: Ann\n"),
}  # fmt: skip


def why_not(planted: Planted, place: str) -> str:
    """Why a key cannot be in a place, or nothing if it can."""
    written = planted.written()
    if place == "table cell" and "\n" in written:
        return "a line break ends a row"
    if place == "bold" and "\n" in written:
        return "a block of lines is not set in bold"
    if place == "URL userinfo" and (planted.before or "\n" in written):
        return "userinfo holds a name and a password, no other text"
    if place == "Markdown escapes" and not re.search(r"[_*~-]", planted.key):
        return "nothing in it is escaped in Markdown"
    if place == "file name" and ("\n" in written or "//" in written):
        return "no line break and no double slash is in a path"
    if place == "branch name" and re.search(r"[\s~^:?*\[\\]|\.\.|@\{|//", written):
        return "git forbids such characters in names of branches"
    return ""


def plant(seed: int) -> Iterator[tuple[str, str, Place | str]]:
    """Every kind in every place: the place with the key, or why it cannot be there."""
    maker = Maker(seed)
    for kind, make in KINDS.items():
        planted = make(maker)
        for place, write in PLACES.items():
            yield kind, place, why_not(planted, place) or write(planted)


def is_covered(place: Place) -> bool:
    """Whether nothing of the key remains once what is found is replaced."""
    left = set(range(place.start, place.end))
    for secret in find_secrets(place.text):
        left -= set(range(secret.start, secret.end))
    return not left
