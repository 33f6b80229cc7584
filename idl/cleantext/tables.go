package cleantext

import "strings"

// signs are the characters that stand for an ASCII sign or letter of an
// address and that NFKC leaves alone. UTS #46 maps U+3002 to the dot too.
var signs = map[rune]byte{
	0x3002: stopDot, 0xff0e: stopDot, 0xff61: stopDot, 0x06d4: stopDot, // full stops
	0x00b7: bulletDot, 0x0387: bulletDot, 0x2022: bulletDot, 0x2027: bulletDot, 0x2219: bulletDot,
	0x22c5: bulletDot, 0x30fb: bulletDot, 0xff65: bulletDot, 0x25cf: bulletDot, 0x26ab: bulletDot,
	0x2024: '.', 0xfe52: '.', 0x0660: stopDot, 0x0701: stopDot, 0x0702: stopDot, 0xa4f8: stopDot, 0x10a50: '.', 0x1d16d: '.',
	0x02d0: ':', 0x02f8: ':', 0x0589: ':', 0x05c3: ':', 0x2236: ':', 0xa789: ':', 0xfe30: ':', 0x0703: ':', 0x0704: ':',
	0x2044: '/', 0x2215: '/', 0x2571: '/', 0x29f8: '/', 0x27cb: '/', 0x3033: '/',
	0x2216: '\\', 0x29f5: '\\', 0x29f9: '\\', 0xfe68: '\\',
	0x3010: '[', 0x3011: ']', 0x3014: '[', 0x3015: ']', 0x3016: '[', 0x3017: ']', 0x2772: '[', 0x2773: ']',
	0x27e6: '[', 0x27e7: ']', 0x300c: '[', 0x300d: ']', 0x3008: '<', 0x3009: '>', 0x27e8: '<', 0x27e9: '>',
	0x2768: '(', 0x2769: ')', 0x2774: '{', 0x2775: '}',
	0x2010: '-', 0x2011: '-', 0xfe63: '-',
	0x1680: ' ', 0x2800: ' ', 0x00a0: ' ', 0x202f: ' ', 0x205f: ' ', 0x3000: ' ',
	// Small capitals are used for show; no orthography is made of them.
	0x1d00: 'a', 0x0299: 'b', 0x1d04: 'c', 0x1d05: 'd', 0x1d07: 'e', 0xa730: 'f', 0x0262: 'g', 0x029c: 'h',
	0x026a: 'i', 0x1d0a: 'j', 0x1d0b: 'k', 0x029f: 'l', 0x1d0d: 'm', 0x0274: 'n', 0x1d0f: 'o', 0x1d18: 'p',
	0xa7af: 'q', 0x0280: 'r', 0xa731: 's', 0x1d1b: 't', 0x1d1c: 'u', 0x1d20: 'v', 0x1d21: 'w', 0x028f: 'y', 0x1d22: 'z',
}

// lookAlikes are letters of other scripts that are drawn like an ASCII letter.
var lookAlikes = map[rune]byte{
	'а': 'a', 'е': 'e', 'о': 'o', 'р': 'p', 'с': 'c', 'у': 'y', 'х': 'x', 'і': 'i', 'ј': 'j', 'ѕ': 's', 'һ': 'h',
	'ԁ': 'd', 'ԛ': 'q', 'ԝ': 'w', 'ѵ': 'v', 'ӏ': 'l', 'к': 'k', 'м': 'm', 'т': 't', 'в': 'b', 'н': 'h', 'г': 'r', 'п': 'n',
	'α': 'a', 'ο': 'o', 'ρ': 'p', 'ν': 'v', 'ι': 'i', 'κ': 'k', 'τ': 't', 'υ': 'u', 'χ': 'x', 'γ': 'y', 'η': 'n', 'ϲ': 'c', 'ε': 'e', 'ω': 'w', 'μ': 'm',
	'օ': 'o', 'ո': 'n', 'ս': 'u', 'հ': 'h', 'ց': 'g', 'ք': 'p', 'ɑ': 'a', 'ɡ': 'g', 'ı': 'i', 'ɩ': 'i', 'ℓ': 'l', 'ǀ': 'l',
}

// bareSchemes are the schemes that a colon and a character other than a space
// make a link of, without slashes. Schemes with an authority need nothing of
// the kind: any word before :// is one.
var bareSchemes = set(`http https hxxp hxxps hxtp htxp ftp ftps sftp ws wss secondlife
	data javascript vbscript livescript mailto tel callto sms smsto file blob about view-source
	bitcoin bitcoincash ethereum cid geo magnet matrix mid xmpp skype sip sips facetime whatsapp jar mhtml x-grid-info
	x-grid-location-info intent itms-services ms-settings ms-msdt search-ms chrome-extension urn news nntp`)

// webSchemes may be set apart from their slashes by spaces.
var webSchemes = set(`http https hxxp hxxps ftp sftp ws wss hop secondlife`)

// pseudoTLDs name no domain of the public root but are used in addresses.
var pseudoTLDs = set(`bit example exit gnu i2p invalid local localhost test zkey onion internal lan intranet corp home
	localdomain eth crypto`)

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
