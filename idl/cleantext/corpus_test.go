package cleantext_test

import (
	"testing"

	"github.com/wipagent/wipagent/idl/cleantext"
)

// benign are ordinary texts, one or more a script, that Clean leaves alone.
var benign = []struct{ name, text string }{
	{"English", "Welcome to the plaza! Opening hours are 9:30-18:00 (Mon. to Fri.), e.g. for v1.2.3 users; it's 3.14 metres wide. U.S.A., Node.js & README.md: fine."},
	{"French", "Bienvenue : l’été, c’est « déjà » demain ; ça va ? Œuvre n° 5, 20 €."},
	{"German", "Grüße aus Zürich: Straßenfest am 10.5. um 8 Uhr, z.B. mit Musik u.a. von „Der Ölprinz“."},
	{"Spanish", "¿Qué tal? ¡Mañana hay baile! Sr. Núñez, 1.º piso."},
	{"Vietnamese", "Xin chào, hôm nay trời đẹp quá! Mời bạn ghé thăm cửa hàng. Tiê\u0301ng Viê\u0323t."},
	{"Turkish", "İstanbul'da güneşli bir gün. Iğdır çok güzel."},
	{"Catalan", "La col·lecció és oberta; paral·lel i mil·lenni."},
	{"Greek", "Καλημέρα κόσμε! Πώς είστε σήμερα; Ελάτε στην πλατεία."},
	{"Russian", "Добро пожаловать на площадь! Сегодня солнечно, т.е. тепло. Ёлка, и т.д."},
	{"Ukrainian", "Ласкаво просимо! Їжак і ґанок, м. Київ."},
	{"Armenian", "Բարև ձեզ։ Ինչպե՞ս եք։ Լավ եմ։"},
	{"Georgian", "გამარჯობა, როგორ ხართ? კარგად."},
	{"Hebrew", "שָׁלוֹם עֲלֵיכֶם! ברוכים הבאים לגן, ד\"ר כהן. בְּרֵאשִׁ֖ית בָּרָ֣א אֱלֹהִ֑ים"},
	{"Arabic", "مَرْحَبًا بِكُمْ فِي السَّاحَةِ! كيف الحال؟ ١٢٣٫٤"},
	{"Persian", "سلام، می\u200cخواهم کتاب\u200cها را ببینم. خانه\u200cای بزرگ"},
	{"Urdu", "خوش آمدید۔ آج موسم اچھا ہے۔ آپ کیسے ہیں؟"},
	{"Syriac", "ܫܠܡܐ ܥܠܟܘܢ"},
	{"Thaana", "މަރުހަބާ! ކިހިނެއް؟"},
	{"N'Ko", "ߌ ߣߌ ߗߋ߫"},
	{"Hindi", "नमस्ते! आप कैसे हैं? डॉ. शर्मा, क्\u200dष और क्ष। राम्\u200cअ"},
	{"Bengali", "স্বাগতম! র\u200d্যাব, আজ আবহাওয়া ভালো।"},
	{"Punjabi", "ਸਤ ਸ੍ਰੀ ਅਕਾਲ! ਤੁਸੀਂ ਕਿਵੇਂ ਹੋ?"},
	{"Gujarati", "કેમ છો? મજામાં."},
	{"Odia", "ନମସ୍କାର, କେମିତି ଅଛନ୍ତି?"},
	{"Tamil", "வணக்கம்! எப்படி இருக்கிறீர்கள்? க்ஷ"},
	{"Telugu", "నమస్కారం! ఎలా ఉన్నారు? రాజ్\u200cకుమార్"},
	{"Kannada", "ನಮಸ್ಕಾರ! ಹೇಗಿದ್ದೀರಾ? ರ\u200d್ಯಾಂಕ್"},
	{"Malayalam", "നമസ്കാരം! സുഖമാണോ? അവൻ, അവൾ"},
	{"Sinhala", "ආයුබෝවන්! ශ්\u200dරී ලංකාව, ක්\u200dෂ"},
	{"Thai", "สวัสดีครับ ยินดีต้อนรับ พ.ศ. ๒๕๖๙ น้ำใจดี ที่นี่"},
	{"Lao", "ສະບາຍດີ ຍິນດີຕ້ອນຮັບ"},
	{"Burmese", "မင်္ဂလာပါ။ နေကောင်းလား။ ကြိုဆိုပါတယ်။"},
	{"Khmer", "សួស្តី! ស្វាគមន៍មកកាន់ទីលាន។"},
	{"Tibetan", "བཀྲ་ཤིས་བདེ་ལེགས། ཧྐྵྨླྺྼྻྂ"},
	{"Mongolian", "ᠮᠣᠩᠭᠣᠯ ᠪᠢᠴᠢᠭ᠌ ᠬᠠᠨ\u180eᠠ"},
	{"Amharic", "ሰላም! እንዴት ነህ? ደህና ነኝ።"},
	{"Cherokee", "ᎣᏏᏲ ᏙᎯᏧ?"},
	{"Inuktitut", "ᐊᐃᓐᖓᐃ! ᖃᓄᐃᑉᐱᑦ?"},
	{"Japanese", "ようこそ、広場へ！今日は良い天気です。スクリプト・ドア「入口」、バージョン２．０です。カﾞｷﾞ。葛\U000e0100飾区"},
	{"Chinese", "欢迎来到广场！今天天气很好。我说。我爱你。第３．５节（完），“引号”《书名》。"},
	{"Korean", "광장에 오신 것을 환영합니다! 오늘은 날씨가 좋아요. 한글"},
	{"Bopomofo", "ㄅㄆㄇㄈ ㄋㄧˇ ㄏㄠˇ"},
	{"Yi", "ꆈꌠꁱꂷ"},
	{"Javanese", "ꦱꦸꦒꦼꦁꦫꦮꦸꦃ"},
	{"Adlam", "𞤀𞤣𞤤𞤢𞤥 𞤆𞤵𞤤𞤢𞤪"},
	{"Gothic", "𐌲𐌿𐍄𐌹𐍃𐌺"},
	{"Phonetic", "ˈɪŋɡlɪʃ fəˈnɛtɪks, [t͡ʃ], ã̰̃, ɑ̃ː"},
	{"Mathematics", "∀x∈ℝ: x² ≥ 0, ½ + ⅓ ≠ 1, a ⋅ b, f: A → B, 10⁻³"},
	{"Fancy", "𝓦𝓮𝓵𝓬𝓸𝓶𝓮 to ᴛʜᴇ Ⓢⓗⓞⓟ ★彡 ~*~ •·.·´¯`·.·• ♥ ｖａｐｏｒ"},
	{"Emoji", "👨\u200d👩\u200d👧\u200d👦 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 🏴\u200d☠\ufe0f 🇯🇵🇩🇪🇧🇷 1\ufe0f\u20e3 #\ufe0f\u20e3 ❤\ufe0f\u200d🔥 🧑🏿\u200d🤝\u200d🧑🏻 👁\ufe0f\u200d🗨\ufe0f ☎\ufe0e ™\ufe0f 🤷🏼\u200d♀\ufe0f 🐦\u200d⬛"},
	{"Programs", "if (x >= 3.5 && y != 0) { llSay(0, \"hi\"); } // main.rs, setup.py, a/b/c, std::vector<int>, x->y, $1.50, 50%, C:\\Program Files\\x"},
	{"Chat", "lol :) :-/ :D ^.^ o.o T.T ... wait...what?! 10/10, 5:30pm, re: your ad; L$250/wk @ plaza #1 <3"},
	{"Names", "Second's Garden | ~Blue~ [Shop] {v2} *new* =^.^= -=House=- ::Deco:: .:Star:. <b>bold</b> &amp; %s"},
}

func TestBenign(t *testing.T) {
	for _, b := range benign {
		if got, r := cleantext.Clean(b.text, 0); got != b.text || r.Changed() {
			t.Errorf("%s: Clean(%+q)\n= %+q, %+v\nwant it unchanged", b.name, b.text, got, r)
		}
	}
}
