package cleantext_test

import (
	"testing"

	"github.com/wipagent/wipagent/idl/cleantext"
)

// removed lists texts and what is left of them; # stands for the marker.
var removed = []struct{ in, want string }{
	// With a scheme.
	{"see http://example.com/page?a=1&b=2 now", "see # now"},
	{"HTTPS://EXAMPLE.COM", "#"},
	{"(https://example.com/a_(b)_c).", "(#)."},
	{"<https://example.com>", "<#>"},
	{"[text](http://example.com)", "[text](#)"},
	{"ftp://files.example.com/x, and more", "#, and more"},
	{"hxxp://evil.com", "#"},
	{"hxxps[:]//evil[.]com/path", "#"},
	{"http[://]evil[.]com", "#"},
	{"http://", "#"},
	{"http ://evil.com", "#"},
	{"http: //evil.com", "#"},
	{"https:evil.com", "#"},
	{"http:/evil.com", "#"},
	{"http:\\\\evil.com", "#"},
	{"//evil.com/x", "#"},
	{"src=//evil.com/x", "src=#"},
	{"//localhost/x", "#"},
	{"//intranet/share", "#"},
	{"\\\\server\\share", "#"},
	{"custom+app.v1://x", "#"},
	{"http://user:pass@evil.com:80/", "#"},
	{"data:text/html;base64,PHNjcmlwdD4=", "#"},
	{"DATA:text/html,hello", "#"},
	{"JavaScript:alert(1)", "#"},
	{"mailto:me@example.com", "#"},
	{"tel:+123456", "#"},
	{"file:///etc/passwd", "#"},
	{"file:C:/x", "#"},
	{"secondlife:///app/agent/0a0a0a0a-0000-4000-8000-000000000001/about", "#"},
	{"secondlife://Ahern/50/60/70", "#"},
	{"http://maps.secondlife.com/secondlife/Ahern/1/2/3", "#"},
	{"maps.secondlife.com/secondlife/Ahern/1/2/3", "#"},
	{"hop://grid.example.invalid:8002/Welcome/1/2/3", "#"},
	{"/Landmarks/secondlife://Ahern/50/60/70", "/Landmarks/#"},
	{"http://例え.jp/道 next", "#道 next"},
	{"詳しくはhttp://example.com/を見て", "詳しくは#を見て"},
	// Hosts.
	{"evil.com", "#"},
	{"go to evil.com.", "go to #."},
	{"go to evil.com!", "go to #!"},
	{"visit www.example.invalid", "visit #"},
	{"www.evil", "#"},
	{"evil.com/path", "#"},
	{"evil.com?q=1", "#"},
	{"evil.co.uk:8080/x", "#"},
	{"EVIL.COM", "#"},
	{"evil.com-based", "#-based"},
	{"访问evil.com吧", "访问#吧"},
	{"서버evil.com에서", "#에서"},
	{"xn--e1afmkfd.xn--p1ai", "#"},
	{"пример.рф", "#"},
	{"ПРИМЕР.РФ", "#"},
	{"例え.テスト.みんな", "#"},
	{"ev\u0456l.com look-alike", "# look-alike"},
	{"evil.с\u043eм", "#"},
	{"💩.la", "#"},
	{"localhost:8080", "#"},
	{"localhost:8080/x", "#"},
	{"README.md/x", "#"},
	{"http://README.md", "#"},
	{"grid.example.org:8002:Region", "#"},
	{"grid.example.org:8002:My Region", "# Region"},
	{"hg.mygrid:8002", "#"},
	{"mygrid:8002:Welcome", "#"},
	{"mygrid:80:Lbsa Plaza", "# Plaza"},
	// Disguises.
	{"evil[.]com", "#"},
	{"evil(dot)com", "#"},
	{"evil [dot] com", "#"},
	{"evil{.}com", "#"},
	{"evil[.com", "#"},
	{"evil.]com", "#"},
	{"evil . com", "#"},
	{"evil .com", "#"},
	{"evil dot com", "#"},
	{"mail dot evil dot com", "#"},
	{"evil-dot-com", "#"},
	{"evilDOTcom", "#"},
	{"evil\u3002com", "#"},
	{"evil\uff61com", "#"},
	{"evil\uff0ecom", "#"},
	{"evil\u2024com", "#"},
	{"evil·com", "#"},
	{"evil•com", "#"},
	{"ｅｖｉｌ．ｃｏｍ", "#"},
	{"ｈｔｔｐ：／／ｅｖｉｌ", "#"},
	{"𝐞𝐯𝐢𝐥.𝐜𝐨𝐦", "#"},
	{"ⓔⓥⓘⓛ.ⓒⓞⓜ", "#"},
	{"①②③.com", "#"},
	{"⒠⒱⒤⒧.⒞⒪⒨", "#"},
	{"🅔🅥🅘🅛.🅒🅞🅜", "#"},
	{"🇪🇻🇮🇱.🇨🇴🇲", "#"},
	{"ᴇᴠɪʟ.ᴄᴏᴍ", "#"},
	{"evil.c\u0338o\u0338m\u0338", "#"},
	{"ht\u200btps://evil.com", "#"},
	{"evil\u200b.com", "#"},
	{"evil\u2060.com", "#"},
	{"ev\u00adil.com", "#"},
	{"e\u202evil.c\u202com", "#"},
	{"evil.\U000e0063com", "#"},
	{"http:\u2215\u2215evil", "#"},
	{"http\ua789//evil", "#"},
	{"evil\n.com", "#"},
	{"evil%2Ecom", "#"},
	{"http%3A%2F%2Fevil%2Ecom%2Fx", "#"},
	{"%65%76il.%63om", "#"},
	{"evil&#46;com", "#"},
	{"evil&#x2e;com", "#"},
	{"http&colon;&sol;&sol;evil&period;com", "#"},
	{`evil\u002ecom`, "#"},
	{`http:\/\/evil.com\/x`, "#"},
	{"jav\u0430script:alert(1)", "#"},
	{"-mailto:x", "-#"},
	{"http : // evil . com", "# #"},
	{"evil. com/path", "#"},
	{"www. evil. com", "#"},
	{"_evil.com_", "#_"},
	{"EVIL . COM", "#"},
	{"хакер.соm", "#"},
	{"あ例え。com", "#"},
	{"evil。it", "#"},
	// Addresses in numbers, mail.
	{"10.0.0.1:8080", "#"},
	{"ping 192.168.1.1 now", "ping # now"},
	{"http://0x7f000001/", "#"},
	{"http://2130706433/", "#"},
	{"0x7f000001:80", "#"},
	{"10[.]0[.]0[.]1", "#"},
	{"10。0。0。1", "#"},
	{"//10.0.0.1/x", "#"},
	{"x.10.0.0.1", "x.#"},
	{"地址10.0.0.1吧", "地址#吧"},
	{"0x7f.0x0.0x0.0x1", "#"},
	{"0177.0.0.1", "#"},
	{"[::1]", "#"},
	{"[::1]:8080/x", "#"},
	{"2001:db8::1", "#"},
	{"fe80::1%eth0.", "#."},
	{"first.last@evil.com", "#"},
	{"me@example.org, you", "#, you"},
	{"me(at)evil(dot)com", "#"},
	{"me [at] evil.com", "#"},
	{"me@localhost", "#"},
	{"me@evil[.]com", "#"},
	{"first.info@evil.com", "#"},
	// Characters.
	{"Line one\nline two\ttab", "Line one line two tab"},
	{"a\r\n\r\n b", "a b"},
	{"a \n b", "a b"},
	{"Ctrl\x01\x02\x1b[31mRED\x1b[0m\a\x7f end", "Ctrl RED end"},
	{"hover\x1b[2Jclear\a", "hover clear "},
	{"\x1b]8;;http://evil.com\x1b\\text\x1b]8;;\x1b\\", " text "},
	{"\u009b31mred", " red"},
	{"a\u2028b\u2029c\u0085d", "a b c d"},
	{"\u202eevil\u202c", "evil"},
	{"a\xff\xfeb", "a\ufffdb"},
	{"hi\U000e0068\U000e0069", "hi"},
	{"a\u200db", "ab"},
	{"x\ufe0f\ufe0f", "x"},
	{"❤\ufe0f\ufe0f\ufe0f", "❤\ufe0f"},
	{"\u3164name\uffa0", "name"},
	{"Z\u0351\u0343\u0304\u0351\u0343\u0304algo", "Z\u0351\u0343\u0304\u0351algo"},
	{"\ufff9a\ufffab\ufffb", "ab"},
}

// kept lists texts that Clean leaves alone.
var kept = []string{
	"", " ", ".", "..", "/", "//", "A/B testing//", "/A/B testing///inside a folder called slash",
	"delivered.The end", "v1.2.3 release notes", "3.14", "Costs 3.14 %", "i.e. this, e.g. that", "U.S.A.", "Node.js-like timers",
	"README.md", "main.rs and setup.py", "Door v1.2", "12:30:45", "2026-11-29T20:58:45.9907350Z", "OpenSimulator 0.9.2.2",
	"version 10.1.2.3", "v10.1.2.3", "1.2.3.4.5", "256.1.1.1", "100%", "50%25", "A&B", "R&#38;B", "&amp; &lt;", `\n \x \u12`, "and/or", "Snapshot : Test Region, Test Region (128, 128)", "llTargetOmega: rotates",
	"Price:5000", "score 10:20", "Room:12", "wait...so", "I did it. So what?", "Fine. It is.", "Hello . It is fine",
	"the .com boom", "ASP .NET", "polka dot in red", "Red dot sale", "// a comment", "x // y", "std::vector", "::BED::",
	"name @ home", "@someone", "L$ 5 @ 10", "o.o", "O.o T.T -.-", "C:\\Windows", "1/2", "½", "10.5.2026", "a.m. and p.m.",
	"Hotel:5 stars", "Javascript: the good parts", "data: none", "Tel: none", "[link removed]", "[link removed].com",
	"欢迎。Shop now", "好。it is", "г.Москва", "assembly 1.0.0.0", "polka dot co-ords", "Hello .World", "key:value", "Group:Role:Name",
	"10:30am", "r@ndom", "km/h", "¯\\_(ツ)_/¯", "•.¸¸.•", "now•in•stock", "日本・中国", "слово.но", "так.со мной", "12:34:56:78:9a:bc",
	"これは文です。次の文です。", "我说。我爱你。", "終わり。OK", "Dr.Who", "Mr.Smith", "St.Patrick", "No.1",
	"Beach 🏖\ufe0f & pier 👨\u200d👩\u200d👧", "👍🏽 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 🏴\u200d☠\ufe0f", "🇯🇵🇩🇪", "1\ufe0f\u20e3 #\ufe0f\u20e3",
	"می\u200cخواهم", "क्\u200dष", "ශ්\u200dරී", "র\u200d্য", "Z\u0351\u0343\u0304a\u0334\u0321l\u0335\u0322g\u0336\u0327o\u0337\u0328",
	"葛\U000e0100城", "ᠮᠣᠩᠭᠣᠯ ᠪᠠᠢᠨ\u180eᠠ", "ཧྐྵྨླྺྼྻྂ", "<script>alert(1)</script>", "say hello / touch me",
}

func TestRemoved(t *testing.T) {
	for _, tt := range removed {
		got, r := cleantext.Clean(tt.in, 0)
		want := expand(tt.want)
		if got != want {
			t.Errorf("Clean(%+q) = %+q, want %+q", tt.in, got, want)
		}
		if !r.Changed() {
			t.Errorf("Clean(%+q) reports no change", tt.in)
		}
	}
}

func TestKept(t *testing.T) {
	for _, s := range kept {
		if got, r := cleantext.Clean(s, 0); got != s || r.Changed() {
			t.Errorf("Clean(%+q) = %+q, %+v, want it unchanged", s, got, r)
		}
	}
}

func expand(s string) string {
	var b []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '#' {
			b = append(b, cleantext.Marker...)
		} else {
			b = append(b, s[i])
		}
	}
	return string(b)
}
