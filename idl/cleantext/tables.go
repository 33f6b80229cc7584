package cleantext

import "strings"

// sign returns the ASCII sign or letter of an address that r stands for, if
// NFKC leaves r alone or does not make that of it, and otherwise 0.
func sign(r rune) byte {
	switch r {
	case 0x3002, 0xff0e, 0xff61, 0x06d4, 0x0660, 0x0701, 0x0702, 0xa4f8:
		return stopDot // UTS #46 maps the first three to the dot too
	case 0x00b7, 0x0387, 0x2022, 0x2027, 0x2219, 0x22c5, 0x30fb, 0xff65, 0x25cf, 0x26ab:
		return bulletDot
	case 0x2024, 0xfe52, 0x10a50, 0x1d16d:
		return '.'
	case 0x02d0, 0x02f8, 0x0589, 0x05c3, 0x2236, 0xa789, 0xfe30, 0x0703, 0x0704:
		return ':'
	case 0x2044, 0x2215, 0x2571, 0x29f8, 0x27cb, 0x3033:
		return '/'
	case 0x2216, 0x29f5, 0x29f9, 0xfe68:
		return '\\'
	case 0x3010, 0x3014, 0x3016, 0x2772, 0x27e6, 0x300c:
		return '['
	case 0x3011, 0x3015, 0x3017, 0x2773, 0x27e7, 0x300d:
		return ']'
	case 0x3008, 0x27e8:
		return '<'
	case 0x3009, 0x27e9:
		return '>'
	case 0x2768:
		return '('
	case 0x2769:
		return ')'
	case 0x2774:
		return '{'
	case 0x2775:
		return '}'
	case 0x2010, 0x2011, 0xfe63:
		return '-'
	case 0x00a0, 0x1680, 0x202f, 0x205f, 0x2800, 0x3000:
		return ' '
	}
	// Small capitals are used for show; no orthography is made of them.
	switch r {
	case 0x1d00:
		return 'a'
	case 0x0299:
		return 'b'
	case 0x1d04:
		return 'c'
	case 0x1d05:
		return 'd'
	case 0x1d07:
		return 'e'
	case 0xa730:
		return 'f'
	case 0x0262:
		return 'g'
	case 0x029c:
		return 'h'
	case 0x026a:
		return 'i'
	case 0x1d0a:
		return 'j'
	case 0x1d0b:
		return 'k'
	case 0x029f:
		return 'l'
	case 0x1d0d:
		return 'm'
	case 0x0274:
		return 'n'
	case 0x1d0f:
		return 'o'
	case 0x1d18:
		return 'p'
	case 0xa7af:
		return 'q'
	case 0x0280:
		return 'r'
	case 0xa731:
		return 's'
	case 0x1d1b:
		return 't'
	case 0x1d1c:
		return 'u'
	case 0x1d20:
		return 'v'
	case 0x1d21:
		return 'w'
	case 0x028f:
		return 'y'
	case 0x1d22:
		return 'z'
	}
	return 0
}

// lookAlike returns the ASCII letter that the lower-case letter r of another
// script is drawn like, and otherwise 0.
func lookAlike(r rune) byte {
	switch r {
	case 'а', 'α', 'ɑ':
		return 'a'
	case 'в':
		return 'b'
	case 'с', 'ϲ':
		return 'c'
	case 'ԁ':
		return 'd'
	case 'е', 'ε':
		return 'e'
	case 'ց', 'ɡ':
		return 'g'
	case 'һ', 'н', 'հ':
		return 'h'
	case 'і', 'ι', 'ı', 'ɩ':
		return 'i'
	case 'ј':
		return 'j'
	case 'к', 'κ':
		return 'k'
	case 'ӏ', 'ℓ', 'ǀ':
		return 'l'
	case 'м', 'μ':
		return 'm'
	case 'п', 'η', 'ո':
		return 'n'
	case 'о', 'ο', 'օ':
		return 'o'
	case 'р', 'ρ', 'ք':
		return 'p'
	case 'ԛ':
		return 'q'
	case 'г':
		return 'r'
	case 'ѕ':
		return 's'
	case 'т', 'τ':
		return 't'
	case 'υ', 'ս':
		return 'u'
	case 'ѵ', 'ν':
		return 'v'
	case 'ԝ', 'ω':
		return 'w'
	case 'х', 'χ':
		return 'x'
	case 'у', 'γ':
		return 'y'
	}
	return 0
}

// entities are the named entities of HTML for the signs of addresses.
var entities = [...]struct {
	name string
	char byte
}{{"&period;", '.'}, {"&colon;", ':'}, {"&sol;", '/'}, {"&bsol;", '\\'}, {"&commat;", '@'}}

// bareSchemes are the schemes that a colon and a character other than a space
// make a link of, without slashes. Schemes with an authority need nothing of
// the kind: any word before :// is one.
var bareSchemes = set(`http https hxxp hxxps hxtp htxp ftp ftps sftp ws wss secondlife
	data javascript vbscript livescript mailto tel callto sms smsto file blob about view-source
	bitcoin bitcoincash ethereum cid geo magnet matrix mid xmpp skype sip sips facetime whatsapp jar mhtml x-grid-info
	x-grid-location-info intent itms-services ms-settings ms-msdt search-ms chrome-extension urn news nntp`)

// webSchemes may be set apart from their slashes by spaces.
var webSchemes = set(`http https hxxp hxxps ftp sftp ws wss hop secondlife`)

// pseudoTLDs are top-level domains that the public suffix list does not name by
// themselves: some countries, retired ones, and those that are used without
// being in the public root.
var pseudoTLDs = set(`bd ck er fk jm kh mm np pg bit example exit gnu i2p invalid local localhost test zkey onion internal lan intranet corp home
	localdomain eth crypto bentley dunlop kerrylogistics lancaster lipsy pramerica redstone`)

// idnTLDs are the top-level domains of the public root that are not ASCII.
// Source: https://data.iana.org/TLD/tlds-alpha-by-domain.txt
var idnTLDs = set(`vermögensberater vermögensberatung ελ ευ бг бел дети ею католик ком мкд мон москва онлайн орг рус рф сайт
	срб укр қаз հայ ישראל קום ابوظبي ارامكو الاردن البحرين الجزائر السعودية السعوديه السعودیة السعودیۃ العليان
	المغرب اليمن امارات ايران ایران بارت بازار بيتك بھارت تونس سودان سوريا سورية شبكة عراق عرب عمان فلسطين قطر
	كاثوليك كوم مصر مليسيا موريتانيا موقع همراه پاكستان پاکستان ڀارت कॉम नेट भारत भारतम् भारोत संगठन বাংলা
	ভারত ভাৰত ਭਾਰਤ ભારત ଭାରତ இந்தியா இலங்கை சிங்கப்பூர் భారత్ ಭಾರತ ഭാരതം ලංකා คอม ไทย ລາວ გე みんな アマゾン クラウド
	グーグル コム ストア セール ファッション ポイント 世界 中信 中国 中國 中文网 亚马逊 企业 佛山 信息 健康 八卦 公司 公益 台湾 台灣 商城 商店 商标 嘉里 嘉里大酒店 在线 大拿 天主教 娱乐
	家電 广东 微博 慈善 我爱你 手机 招聘 政务 政府 新加坡 新闻 时尚 書籍 机构 淡马锡 游戏 澳門 澳门 点看 移动 组织机构 网址 网店 网站 网络 联通 臺灣 谷歌 购物 通販 集团 電訊盈科 飞利浦
	食品 餐厅 香格里拉 香港 닷넷 닷컴 삼성 한국`)

// longestIDN is the length of the longest of idnTLDs in characters.
const longestIDN = 17

// fileTLDs are top-level domains that are better known as the extension of a
// file; one label with such a one after it is a file name.
var fileTLDs = set(`md py rs sh pl cc so zip mov`)

// wordTLDs are top-level domains that are everyday words, which may follow a
// dot that stands between spaces.
var wordTLDs = set(`ad am as at be best bet bid by call can case cat click da de do eat er es et everything fast fit fly
	food foundation free fun gift got health help here hm host hot how id il in is it la like link live lo love ma man map
	me men mo mom money my ne new news no nu one open page pay people play plus pm ps racing red rent review ru run safe
	sale save se security select send show si so soy sport st style sucks support talk team tips to today too top tours
	trade tube us va vip vote watch weather win wow you yes`)

// dotTLDs are the top-level domains that the word "dot", or a bullet, makes an
// address with.
var dotTLDs = set(`com net org edu gov mil int info biz io co ai app dev xyz onion uk de fr eu ru cn jp br nl pl ch tv cc
	ca au kr tk ml ga cf gq ws su ly gg online site`)

// leadWords stand before a dot and a top-level domain when people speak of the
// domain itself: the .com boom, a .net assembly.
var leadWords = set(`a an and any as at by every for from in like no not of on one or our the their this to use uses using
	via with your my all both each`)

// versionWords stand before a version number of four parts.
var versionWords = set(`v ver version versions release rel build viewer firmware driver opensim opensimulator`)

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
