"""Passwords, hashes, cookies and keys as people and programs write them: nothing of them is left in the text."""

import base64
import json
import re
from collections.abc import Callable, Sequence

import pytest
import yaml

from memosite.secrets import engine, find_secrets
from tests.support.planted_secrets import KINDS, Maker, of_form

Layouts = dict[str, tuple[str, Sequence[str]]]


def left_of(text: str) -> str:
    """What is left of a text once all that is found in it is out."""
    for secret in reversed(find_secrets(text)):
        text = f"{text[: secret.start]}*{text[secret.end :]}"
    return text


def missed(form: str, layouts: Sequence[str], seeds: Sequence[int] = range(3)) -> list[str]:
    """The texts that a key of this form is still in; it stands where `§` is."""
    texts = [
        (layout.replace("§", key), key) for layout in layouts for key in (of_form(form, Maker(seed)) for seed in seeds)
    ]
    return [text for text, key in texts if any(part in left_of(text) for part in (key[2:-2], key[:-3], key[3:]))]


HASHES: Layouts = {
    "of Windows": ("{H32}", (
        "Administrator:500:aad3b435b51404eeaad3b435b51404ee:§:::",
        "CORP\\ann:1103:§:aad3b435b51404eeaad3b435b51404ee:::",
        "bob:1000:XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX:§:[U          ]:LCT-5F:",
        "bob:1000:NO PASSWORD*********************:§:::",
        "NTLM hash: §", '{"nt_hash": "§"}',
    )),
    "of Windows, as an answer": ("{H32}:{H200}", ("bob::CORP:1122334455667788:§",)),
    "of Cisco, 7": ("08{X16}", (
        "enable password 7 §", "username bob password 7 §\n!", "tacacs-server key 7 §", " key-string 7 §",
        '"cfg": "\\n key 7 §\\n"',
    )),
    "of Cisco, 4 and 9": ("{S43}", ("enable secret 4 §", "username bob secret 9 $9$aBcD1eFgH2iJkL$§")),
    "of MySQL": ("*{X40}", ("IDENTIFIED BY PASSWORD '§'", "('bob','§')", "bob:§", "bob\t§")),
    "traditional": ("a7{S5}B{S4}.", ("bob:§:1001:100:Bob:/home/bob:/bin/sh", "root:§:19700:0:99999:7:::",
    "bob:§\nann:x", "bob:§")),
}  # fmt: skip


@pytest.mark.parametrize(("form", "layouts"), HASHES.values(), ids=list(HASHES))
def test_hashes_of_passwords_are_found_where_programs_write_them(form: str, layouts: Sequence[str]) -> None:
    """Those without a form of their own, by their place in a line or their name."""
    assert missed(form, layouts) == []


PASSWORDS: Layouts = {
    "of 8 characters, names in many languages": ("{A3}7{A4}", (
        *(f"{name}: §" for name in (
            "password", "Password", "pw", "PW", "pwd", "pass", "passwd", "Passwort", "Kennwort", "contraseña",
            "contrasena",
            "clave", "mot de passe", "Mot de passe ", "mdp", "senha", "wachtwoord", "hasło", "lösenord", "salasana",
            "heslo",
            "jelszó", "parola", "parolă", "şifre", "passord", "adgangskode", "пароль", "Пароль", "密码", "密碼", "口令",
            "パスワード",
            "비밀번호", "κωδικός", "סיסמה", "كلمة المرور", "पासवर्ड", "mật khẩu", "user bob, pw", "password for the db",
        )),
        "DB_PASS=§", "dbPass = §", "密码：§", "the password is §, I think", "le mot de passe est §",
        "das Passwort lautet §",
        '{"password": "§"}', "password=`§`", "user: bob, password: §, host: db",
    )),
    "of 6 characters": ("{A2}7{A3}", ("password: §", "DB_PASSWORD=§", "pw: §", '{"pass": "§"}')),
    "made of a word": ("Summer20{D2}", ("password: §", "{'pwd': '§'}", "password=§")),
    "made of a word and signs": ("{D2}dragon#", ("password: §", "{'pwd': '§'}", "password=§")),
    "of letters": ("a{C1}b{C1}c{C1}d{C1}", ("password: §", '{"password": "§"}')),
    "with other spaces, signs and quotes": ("{A4}7{A5}", (
        "password\\u00a0: §", "password:\\u00a0§", "password\\u202f:\\u202f§", "password\\t:\\t§",
        "password      =      §",
        "password:\\u3000§", "password: “§”", "password: «\\u00a0§\\u00a0»", "password: „§“",
        "**password**:\\u00a0`§`",
        "password → §", "password -> §", "password – §", "password — §", 'the password "§" was changed',
    )),
    "within brackets, after them, and in the next line": ("{A4}7{A5}", (
        '{"password": ["§"]}', '"password": [\\n  "§"\\n]', '{"password": {"value": "§"}}',
        'config["db"]["password"] = "§"',
        '{"password":{"type":"string","value":"§"}}', "os.environ['API_KEY']='§'", 'ENV["DB_PASSWORD"] = "§"',
        'os.environ["DB_PASSWORD"] = "§"', "password:\\n  §\\n", "password:\\n  - §\\n",
        'token:\\n    - "§"\\nnext: 1',
        "password: |\\n  §\\n", "secret: >-\\n  §\\n", "db:\\n  password:\\n    value: §\\n",
        "> password:\\n>   §\\n",
        " 9→password:\\n10→  §\\n", '{"body": "password:\\\\n  §\\\\n"}', "The password:\\n\\n```\\n§\\n```\\n",
        "<password>\\n  §\\n</password>",
    )),
    "of an environment or a function": ("{A4}7{A5}", (
        "ENV DB_PASSWORD §", "ARG DB_TOKEN=§", "setx DB_PASSWORD §", 'setx DB_PASSWORD "§" /M',
        "export DB_PASSWORD=§",
        "export DB_PASSWORD §", "setenv API_KEY §", "set -gx DB_PASSWORD §", '$env:DB_PASSWORD = "§"',
        '(setq password "§")',
        'os.getenv("DB_PASSWORD", "§")', 'define("DB_PASSWORD", "§");', '.password("§")', 'setPassword("§")',
        'SetEnvironmentVariable("API_KEY", "§")', "gh secret set DB_PASSWORD --body §",
        'get(url, auth=("bob", "§"))',
        "machine db\\nlogin bob\\npassword §", "enable password §", "username bob password 0 §",
        "username bob privilege 15 secret §",
    )),
    "behind a label in bold": ("{A4}7!{A5}", (
        "**Password:** `§`", "**Password:** §", "__Password:__ §", "*Password:* §", "| **Password:** | **Token:** § |",
        "<b>Password:</b> §", "**DB_PASSWORD:** `§`", "**Password**: `§`",
    )),
    "of Amazon": ("{A8}/{A22}+{A8}", (
        "aws_secret_access_key:\\n  §\\n", "AWS secret access key\\n§\\n", "Secret access key:\\n\\n`§`\\n",
        "AWS_SECRET_ACCESS_KEY=\\n§",
        "aws secret key:\\n```\\n§\\n```\\n", "| Secret access key |\\n|---|\\n| § |\\n",
        '"body": "secret access key:\\\\n§\\\\n"',
        "aws_secret_access_key: >-\\n  §", "aws_secret_access_key:\\n- §",
    )),
}  # fmt: skip


@pytest.mark.parametrize(("form", "layouts"), PASSWORDS.values(), ids=list(PASSWORDS))
def test_passwords_are_found_however_they_are_named_and_laid_out(form: str, layouts: Sequence[str]) -> None:
    """Of 6 characters and more, with a digit, a sign or capitals inside; their name may be in another line."""
    assert missed(form, layouts) == []


NO_PASSWORDS = (
    "password: required", "**Password:** required", "<b>Password:</b> see the vault",
    "password: changed yesterday", "Password: see the vault", "password: (hidden)",
    "password: ********",
    "pass: 12 of 14, fail: 2", "PASS: tests/test_x86.py::test_2", "ok, pass: utf8_to_utf16", "pw: none", "clave: valor",
    "password: str", "password: Optional[str] = None", "password: sha256", "password = base64.b16encode(data)",
    "password = hash_of(password)", "password=password", 'getpass("Password: ", stream=None)',
    'def f(secret="", application_name=None)',
    "password:\\n  type: string\\n  format: base64\\n", "token:\\n  - name\\n  - value\\n",
    "PrivateKey,\\n  X25519PublicKey,\\n",
    "    19→apiKey={{.Env.KEY}}\\n    20→archives:\\n", "The token — expired. The secret – a word. A key → a door.",
    "secret access key\\n\\nbe4c6a0f2d8e4c6a0f2d8e4c6a0f2d8e4c6a0f2d is the commit", "identified by __mc68000__",
    "password is missing2",
    "das Passwort ist falsch", "contraseña: obligatoria", "пароль: обязателен", "密码：必填", "enable secret sharing",
    "auth=(user, password)", "password: str|None", "password: Optional<String>", "if (pass < max7 && x)",
    "pass: 5<6 && 7>8;",
    "I changed the password to something longer", "password reset to factory2 defaults",
    "set the token to base64url",
    "<td>password</td><td>required</td>", "mysql -u root -p mydatabase",
    "the password is the one of 2026-05-01", "use version2 as the password policy", "new password rules of 2026",
    "WIFI:S:office;T:nopass;;", "requirepass <password>", "ConvertTo-SecureString $password -AsPlainText -Force",
    "const pass = a&b7 ? c : d", "Password: fish|chips", "the password;token are here7",
)  # fmt: skip


@pytest.mark.parametrize("text", NO_PASSWORDS)
def test_what_is_said_of_passwords_is_none(text: str) -> None:
    """Words, types, states, results of tests, calls."""
    assert left_of(text) == text


ELSEWHERE: Layouts = {
    "of a network, a server or a shell": ("{A4}7{A5}", (
        "psk=§", 'psk="§"', "wpa_passphrase=§", "requirepass §", "masterauth '§'",
        'ConvertTo-SecureString "§" -AsPlainText -Force', "ConvertTo-SecureString -AsPlainText -Force -String '§'",
        "WIFI:S:office;T:WPA;P:§;;", 'WIFI:T:WPA;S:x\\;y;P:"§";H:true;;', '{"qr": "WIFI:S:office;P:§;;"}',
    )),
    "of a network, a word or with signs": ("{L9}", ("WIFI:S:office;T:WPA;P:§;;", "WIFI:P:a\\;§;T:WPA;S:office;;")),
    "in cells of a page": ("{A4}7{A5}", (
        "<tr><td>password</td><td>§</td></tr>", "<th>Password:</th>\n  <td><code>§</code></td>",
        "<dt>Passwort</dt><dd>§</dd>", '<td><b>API key</b></td><td class="x">§</td>',
        '{"html": "<td>secret</td>\\n<td>§</td>"}', "<TD>Token</TD><TD>§</TD>",
    )),
    "a word, joined to its option": ("mar{L7}", (
        "mysql -u root -p§", "mysqldump -uroot -p§ db", '{"cmd": "\\nmariadb -h db -u root -p§\\n"}',
    )),
    "in a sentence": ("{A2}7q{C2}{A2}", (
        "I changed the password to §", "We set the root password to §, since yesterday.", "the password is §",
        "The password for bob was changed to §.", "the new passphrase: §", "The new password § works.",
        "use § as the password", "log in as bob with the password `§`",
        '{"body": "Hello.\\nI reset the password to §.\\n"}',
    )),
}  # fmt: skip


@pytest.mark.parametrize(("form", "layouts"), ELSEWHERE.values(), ids=list(ELSEWHERE))
def test_passwords_are_found_in_settings_codes_pages_and_sentences(form: str, layouts: Sequence[str]) -> None:
    """Words where only a password can be; in a sentence, what no word looks like."""
    assert missed(form, layouts) == []


PAGES: Layouts = {
    "in a column of a page": ("{A4}7{A5}", (
        "<table><tr><th>User</th><th>Password</th></tr><tr><td>bob</td><td>§</td></tr></table>",
        "<table>\n<tr>\n <td>login</td>\n <td><b>pwd</b></td>\n</tr>\n<tr>\n <td>bob</td>\n <td><code>§</code></td>\n",
        "<TABLE><TR><TH>User<TH>Passwort<TR><TD>ann<TD>x<TR><TD>bob<TD>§</TABLE>",
        "<tr class='x'><th></th><th id='k'>API key</th></tr><tr><td colspan=2>us</td></tr><tr><td>1<td class='k'>§",
        '{"body": "<table>\\n<tr><th>user<\\/th><th>token<\\/th><\\/tr>\\n<tr><td>bob<\\/td><td>§<\\/td><\\/tr>"}',
        "| | user | password |\n|---|---|---|\n| 1 | bob | § |\n",
    )),
}  # fmt: skip
NO_PAGES = (
    "<table><tr><th>name</th><th>type</th></tr><tr><td>password</td><td>utf8-string</td></tr></table>",
    "<table><tr><th>Password</th><td>required</td></tr><tr><th>Base64url</th><td>x</td></tr></table>",
    "<table><tr><th>user</th><th>password</th></tr><tr><td>bob</td><td>changed on 2026-05-01</td></tr></table>",
    "<table><tr><th>user</th><th>password</th></tr></table><table><tr><td>Form7a8b9</td><td>Form7a8b9</td></tr></table>",
    "<table><tr><th>user</th><th>password, 2 of them</th></tr><tr><td>bob</td><td>Form7a8b9</td></tr></table>",
)


@pytest.mark.parametrize(("form", "layouts"), PAGES.values(), ids=list(PAGES))
def test_tables_in_pages_are_lists_of_passwords_as_others_are(form: str, layouts: Sequence[str]) -> None:
    """Below a head of `th`, or in the first row; tables that say what passwords are hold none."""
    assert missed(form, layouts) == []
    assert [text for text in NO_PAGES if left_of(text) != text] == []


JOINTS = ('" + "', "' + '", '"\n    "', '" \\\n  "', "' . '", '" & "', '" +\n        "', '"\n  + "')


@pytest.mark.parametrize("joint", JOINTS)
def test_keys_that_are_put_together_from_strings_are_found(joint: str) -> None:
    """As programs do it to stay below the length of a line, or a scanner's notice."""
    assert left_in_programs(f"key = {joint[-1]}§{joint}¶{joint[-1]}") == []


JOINED = (
    'key = "".join(["§", "¶"])', "key = ''.join(('§', '¶',))", '"".join([\n    "§",\n    "¶",\n])',
    "const key = ['§', '¶'].join('');", 'strings.Join([]string{"§", "¶"}, "")', "implode('', ['§', '¶'])",
    'my $key = join("", "§", "¶");',
)  # fmt: skip


@pytest.mark.parametrize("program", JOINED)
def test_keys_that_are_joined_from_a_list_are_found(program: str) -> None:
    """Not if something is put between them, which makes another text."""
    assert left_in_programs(program) == []
    assert len(left_in_programs(program.replace('""', '"-"').replace("''", "'-'"))) == 3 * 8


def left_in_programs(program: str) -> list[str]:
    """The texts with this program in which a key is left whose parts are at `§` and `¶`."""
    found = []
    for kind in ("GitHub token, classic", "AWS access key id", "npm token", "Stripe secret key"):
        for at in (4, 9):
            key = KINDS[kind](Maker(at)).key
            written = program.replace("§", key[:at]).replace("¶", key[at:])
            texts = (written, json.dumps({"code": written}), f"- {json.dumps(written)}\n")
            found += [text for text in texts if key[:at] in left_of(text) or key[at:] in left_of(text)]
    return found


COOKIES: Layouts = {
    "with a name of its own": ("{A9}7{A13}4{A2}", (
        "The session cookie is sid=§", "cookie `memo_sid`: `§`", "my cookie memo_sid is §", 'cookies={"memo_sid": "§"}',
        "cookies = {'memo_sid': '§'}", 'res.cookie("memo_sid", "§")', "page.setCookie('memo_sid', '§')",
        "document.cookie = 'sid=§'",
        "| cookie | value |\\n|---|---|\\n| memo_sid | § |", "Use this cookie:\\n\\nmemo_sid=§\\n",
        "cookies: memo_sid=§; other=1",
        "- cookie:\\n    memo_sid: §", "user,cookie\\nbob,§\\n", '{"cookies": [{"name": "memo_sid", "value": "§"}]}',
        '{"name": "sid", "value": "§", "domain": "example.org", "path": "/", "httpOnly": true}',
        '{\\n  "hostOnly": true,\\n  "name": "sid",\\n  "value": "§"\\n}',
    )),
}  # fmt: skip
LOGINS: Layouts = {
    "in a table": ("{A4}7{A5}", (
        "user,pw\\nbob,§\\n", "user;pass\\nbob;§", "| user | pass |\\n|---|---|\\n| bob | § |\\n",
        "name\\tpw\\nbob\\t§\\n",
        "| login | pw |\\n|---|---|\\n| bob | `§` |", "| usuario | contraseña |\\n|---|---|\\n| bob | § |\\n",
        "| 用户 | 密码 |\\n|---|---|\\n| bob | § |\\n", "username,pass,mail\\nbob,§,bob@example.org\\n",
    )),
    "given to a program": ("{A4}7{A5}", (
        "smbclient -U bob%§ //host/share", "smbclient //host/share -U 'CORP\\\\bob%§'", "rpcclient -U bob%§ host",
        "curl -u bob:§ https://x",
        "curl -sS --user 'bob:§' https://x", "http -a bob:§ x", "lftp -u bob,§ host", "mysql -uroot -p§ db",
        "mysqldump -u root -p'§' db",
        "sshpass -p § ssh host", "sshpass -p'§' ssh host", "net use \\\\\\\\h\\\\s § /user:bob", "net user bob § /add",
        "xfreerdp /u:bob /p:§ /v:h",
        "rdesktop -u bob -p § h", "nxc smb h -u bob -p §", "evil-winrm -i h -u bob -p §",
        "impacket-psexec CORP/bob:§@10.0.0.1",
        "secretsdump.py 'corp/bob:§@h'", "echo § | sudo -S ls", "echo 'bob:§' | chpasswd",
        "echo § | docker login -u bob --password-stdin",
        "mosquitto_pub -u bob -P § -t x", "rclone obscure §", "useradd -p § bob", "snmpwalk -v2c -c § host",
        "isql -U sa -P §",
        "keytool -storepass § -list", "sqlplus bob/§@db", "kubectl create secret generic x --from-literal=password=§",
        "ldapsearch -D x -w § -b y",
        'ns.OpenDSObject("LDAP://dc=x", "CORP\\\\bob", "§", 1)',
    )),
    "that is a word, glued to a user": ("{L6}", ("curl -u bob:§ https://x", "smbclient -U bob%§ //h/s")),
}  # fmt: skip
SIGNS: tuple[str, Sequence[str]] = ("k!{A2}#x*{D2}.?^w/{A2}", (
    "mysql -u root -p'§'", "sshpass -p '§' ssh host", "ldapsearch -w '§' -b y", "smbclient -U 'bob%§' //h/s",
    "hasło: §", "jelszó: §", "密码: §", "lösenord: §", "şifre: §",
))  # fmt: skip
JWK: Layouts = {
    "in YAML": ("{W20}aA7{W21}bB8", (
        "kty: OKP\\ncrv: Ed25519\\nd: §\\nx: y", "keys:\\n  - kty: EC\\n    d: '§'\\n", "- {kty: OKP, d: §}",
        "kty: oct\\nk: §\\n",
        '{"yaml": "kty: RSA\\\\nq: §\\\\n"}',
    )),
}  # fmt: skip


@pytest.mark.parametrize(("form", "layouts"), (COOKIES | LOGINS | JWK).values(), ids=list(COOKIES | LOGINS | JWK))
def test_cookies_logins_and_private_keys_are_found_outside_of_their_usual_places(
    form: str, layouts: Sequence[str]
) -> None:
    """In prose, tables, YAML, exports of browsers and lines of commands."""
    assert missed(form, layouts) == []


SEPARATORS = (
    "{A2}&{A4}7",
    "{A1}7;{A5}",
    "{A3}|{A3}7!",
    "{A2}<{A3}7#",
    "{A4}7{A3}&{A2}",
    "dragon&{D2}x!",
    "{A1}|{L1}&{L2}{D2}",
)
UNQUOTED = (
    "password: §", "DB_PASSWORD=§", "pwd = '§'", '{"password": "§"}', '{"body": "$ x\\npassword: §\\n"}',
    "the password: `§`",
    "| password: §|host: db|",
)  # fmt: skip
QUOTED = (
    "mysql -u root -p'§' db",
    'sshpass -p "§" ssh h',
    "curl -u 'bob:§' https://x",
    '{"cmd": "\\nmysql -p\\"§\\""}',
)


@pytest.mark.parametrize("form", [*SEPARATORS, "{A2},{A3}7!", "{A2}({A3})7;"])
def test_signs_that_separate_elsewhere_may_be_in_a_password(form: str) -> None:
    """Of an unquoted one, where no other assignment, tag or cell follows; in quotes, any sign."""
    unquoted = [one for one in UNQUOTED if form in SEPARATORS and not ("|" in form and one.startswith("|"))]
    assert missed(form, [*unquoted, *QUOTED]) == []


BEHIND = (
    "&user=bob&n=2", ";User Id=sa;Timeout=30", "</password>", "<br>next", "&nbsp;next", "&#160;next", "&&run", "||run",
    "; next", ";", "|", "| next", "<", "&lt;",
)  # fmt: skip


@pytest.mark.parametrize("behind", BEHIND)
def test_what_is_behind_a_password_is_no_part_of_it(behind: str) -> None:
    """As in addresses, connections, markup and commands."""
    key = of_form("{A4}7{A4}", Maker(2))
    assert left_of(f"see ?password={key}{behind}") == f"see ?password=*{behind}"
    assert left_of(f"| password: {key}|host: db7|") == "| password: *|host: db7|"


def _string(text: str) -> str:
    return json.dumps({"result": text})


SOURCES: dict[str, Callable[[str], str]] = {
    "a memo": lambda text: json.dumps({"from": "ann", "body": f"Hello.\n{text}\nBye."}),
    "a memo that begins with it": lambda text: json.dumps({"body": text, "n": 1}, ensure_ascii=False),
    "JSON in JSON in a memo": lambda text: json.dumps({"body": _string(_string(f"$ x\n{text}\n"))}),
    "a fence": lambda text: f"# A title\n\n```json\n{_string(f'$ x{chr(10)}{text}')}\n```\n",
    "a fence in a memo": lambda text: json.dumps({"body": f"```\n{_string(_string(f'$ x{chr(10)}{text}'))}\n```\n"}),
    "YAML": lambda text: f"a: 1\nb: {json.dumps(text)}\nc: 2\n",
    "a session log": lambda text: f'{{"type": "user"}}\n{json.dumps({"stdout": _string(f"$ x{chr(10)}{text}")})}\n',
}


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_found_in_a_text_is_found_in_its_strings(source: str) -> None:
    """However often it is escaped; at the beginning of a line, too, where an escape is no letter."""
    layouts = {**PASSWORDS, **ELSEWHERE, **PAGES, **COOKIES, **LOGINS, **HASHES, **JWK, "with signs in quotes": SIGNS}
    for form, written in layouts.values():
        key = of_form(form, Maker(1))
        for text in (layout.replace("§", key) for layout in written):
            assert key[1:-1] not in left_of(SOURCES[source](text)), text


def test_a_login_in_base64_is_known_by_what_it_decodes_to() -> None:
    """As Docker and npm keep it; whatever else is called `auth` is none."""
    for seed in range(5):
        login = base64.b64encode(f"bob:{of_form('{A10}', Maker(seed))}".encode()).decode()
        for layout in (
            '{"auths": {"r": {"auth": "§"}}}',
            '\\\\"auth\\\\": \\\\"§\\\\"',
            "auth: §",
            "//registry/:_auth=§",
            'auth = "§"',
        ):
            assert login[4:-4] not in left_of(layout.replace("§", login))
    for text in (
        "auth: required-for-everybody",
        '{"auth": "OAuth2Provider"}',
        "auth = AuthenticationMiddleware",
        "auth: c2Vzc2lvbg==",
    ):
        assert left_of(text) == text


def test_what_is_assigned_to_the_name_of_a_vendor_is_a_key_in_every_form_that_such_keys_have() -> None:
    """Names without a word for keys, and values that only chance makes; words are none."""
    rules = yaml.safe_load(engine.OWN_RULES.read_text("utf-8"))["rules"]
    pattern = next(rule["pattern"] for rule in rules if rule["id"].endswith("vendor-assignment"))
    names = [
        re.sub(r"\[_\.-\]\?|\\", "_", name.strip(" )\n"))
        for name in re.split(r"\| ", pattern.split("(?i:")[1].split(")")[0])
    ]
    assert len(names) >= 40
    for number, name in enumerate(names):
        key = of_form(
            ("{H32}", "{A10}7{A5}3{A7}", "{L20}7{L4}3{L15}", "{C20}7{C5}3{C5}", "{U}", "{W60}{A1}")[number % 6],
            Maker(number),
        )
        for text in (f"{name}: {key}", f"{name.upper()}_KEY = '{key}'", json.dumps({name: key}), f"| {name} | {key} |"):
            assert key[3:-3] not in left_of(text), text
        for text in (
            f"our {name} account {key}",
            f"{name}: the-first-of-all-our-accounts",
            f"{name}_region: europe-west-12-b-of-them",
        ):
            assert left_of(text) == text
