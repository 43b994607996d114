package demo

// chat is one session of the made-up history.
type chat struct {
	id, parent string
	role       role
	source     string // where it was led: cli, telegram, desktop; subagent for a delegate
	title      string
	ended      string // why it ended; empty while it is open
	said       []string
	// goes marks what the delete must take. It is written down here, not worked out, so that the demo can tell a wrong
	// delete from a right one.
	goes bool
}

// subagent is where a delegate was led.
const subagent = "subagent"

// The sessions that the show speaks of.
const (
	newestSegment = "20261118_142233_9fea03" // the app asks to delete the conversation that it belongs to
	keptBranch    = "20261120_083317_c95d2b" // of that conversation; it stays
	busyRoot      = "20261007_191540_d3b18f" // the conversation in which a turn runs: its lease stands under this
	busyNewest    = "20261124_200318_6ea4c7" // the app asks for this segment of it
)

// searched are words that stand both in the conversation that goes and in ones that stay.
var searched = []string{"bamboo", "新幹線"}

// story is a person's history: said holds what the user and the Agent said in turn, the user first.
var story = []chat{
	{
		id: busyRoot, source: "desktop", title: "Steuererklärung 2025", ended: "compression",
		said: []string{
			"Ich möchte die Steuererklärung endlich selbst machen. Welche Belege brauche ich für das häusliche Arbeitszimmer?",
			"Mietvertrag, Grundriss mit Quadratmetern, Nebenkosten und die Rechnungen für Schreibtisch und Stuhl.",
			"Und die Fahrten zum Büro, größtenteils mit dem Fahrrad?",
			"Die Entfernungspauschale gilt auch fürs Fahrrad: Arbeitstage × einfache Strecke × Pauschale.",
		},
	},
	{
		id: busyNewest, parent: busyRoot, role: roleSegment, source: "desktop", title: "Steuererklärung 2025 #2",
		said: []string{
			"Das Finanzamt fragt nach der Straße der zweiten Wohnung. Wo trage ich das ein?",
			"In der Anlage N, Seite 3, unter »Mehraufwendungen für doppelte Haushaltsführung«.",
			"Gut. Bitte fass alles für die Ämter zusammen.",
		},
	},
	alone("20261011_101322_2a9cf0", "telegram", "Svatba Žofie – rozpočet a hosté",
		"Kolik stojí svatba pro šedesát hostů? Žofie chce hudbu a příliš žluťoučký dort.",
		"Počítej zhruba se sto padesáti tisíci; největší položky jsou hostina, sál a kapela."),
	alone("20261014_184510_f7b3d6", "desktop", "周末食谱：麻婆豆腐",
		"周末想做麻婆豆腐，四个人吃，不要太辣。",
		"豆腐六百克，牛肉末一百五十克，豆瓣酱减到一勺半，花椒最后再放。",
		"可以用素肉代替牛肉吗？",
		"可以，先把素肉煎到金黄再下锅。"),
	alone("20261017_074955_8e12bd", "telegram", "رسالة إلى مدير المدرسة",
		"ساعدني في كتابة رسالة إلى مدير المدرسة بخصوص غياب ابنتي يوم الخميس.",
		"السيد المدير المحترم، أود إبلاغكم بأن ابنتي لن تحضر يوم الخميس بسبب موعد مع الطبيب."),
	{
		id: "20261019_211704_b40e9a", source: "cli", title: "Backup script for the NAS", ended: "compression",
		said: []string{
			"Write me a script that copies /srv to the NAS every night and keeps two weeks.",
			"Here is one with rsync and hard links. It keeps fourteen folders and removes the oldest.",
			"It stops when the NAS sleeps.",
			"I added a wake-up packet and three tries.",
		},
	},
	{
		id: "20261022_220831_95fc7e", parent: "20261019_211704_b40e9a", role: roleSegment, source: "cli",
		title: "Backup script for the NAS #2",
		said: []string{
			"How do I know that a backup can be read back?",
			"Let a second job restore ten random files each Sunday and compare their checksums.",
		},
	},
	{
		id: "20261022_221540_c1d02f", parent: "20261022_220831_95fc7e", role: roleDelegate, source: subagent,
		title: "Try the restore on a copy",
		said:  []string{"Restore ten files from the newest backup and compare them.", "All ten are the same."},
	},
	alone("20261025_093020_3c7ae5", "desktop", "Почему скрипит велосипед?",
		"Велосипед скрипит при каждом обороте педалей. Что проверить сначала?",
		"Каретку и болты звёзд: протяни их, затем смажь резьбу и послушай ещё раз."),
	alone("20261028_120648_a90b4d", "telegram", "हिंदी की एक कविता",
		"दादी के जन्मदिन के लिए एक छोटी कविता लिखो।",
		"दादी की हँसी में धूप खिलती है, घर की हर सुबह उनसे मिलती है।"),
	alone("20261030_161211_e5f8c2", "telegram", "Birthday 🎂 for Zoë",
		"Zoë turns seven on Saturday 🎈 Ideas for twelve children and a small flat?",
		"A treasure hunt 🗺 from room to room, pizza 🍕 that they top themselves, and a cake 🎂 at three."),
	{
		id: "20261102_190214_7c41ae", source: "desktop", title: "Kyōto in autumn 🍁", ended: "compression", goes: true,
		said: []string{
			"Ten days in Kyōto in November: temples, quiet gardens, and the bamboo grove of Arashiyama.",
			"Go to the bamboo grove before seven in the morning; by nine it is full. Here is a plan by district …",
			"京都の紅葉の見ごろはいつですか？",
			"十一月中旬から下旬です。東福寺は混みますが、早朝なら静かです。",
		},
	},
	alone("20261105_175936_64ab1c", "desktop", "Balcony: bamboo or hornbeam?",
		"I want a green screen on the balcony. Will bamboo survive the winter in a tub?",
		"Clumping bamboo will, if the tub holds 60 litres and stands on feet. Never take one that runs.",
		"And hornbeam?",
		"It is hardier, but loses its leaves. For a screen all year, take the bamboo."),
	{
		id: "20261109_201855_e08b53", parent: "20261102_190214_7c41ae", role: roleSegment, source: "desktop",
		title: "Kyōto in autumn 🍁 #2", ended: "compression", goes: true,
		said: []string{
			"Is the 新幹線 from Tōkyō worth its price?",
			"The 新幹線 takes 2 h 15 min and leaves every ten minutes. I let a helper compare the passes.",
		},
	},
	{
		id: "20261109_204130_51f0c9", parent: "20261109_201855_e08b53", role: roleDelegate, source: subagent,
		title: "Compare the rail passes", ended: "done", goes: true,
		said: []string{
			"Compare single tickets with the rail passes for two people.",
			"For one return trip by 新幹線 single tickets are cheaper by ¥43,000.",
		},
	},
	alone("20261112_192702_0d7e3b", "telegram", "מתכון לחלה של סבתא",
		"איך סבתא הכינה את החלה הרכה שלה?",
		"קילו קמח, שתי ביצים, חצי כוס שמן וסבלנות: שתי התפחות של שעה וחצי."),
	{
		id: newestSegment, parent: "20261109_201855_e08b53", role: roleSegment, source: "desktop",
		title: "Kyōto in autumn 🍁 #3", goes: true,
		said: []string{
			"Find us a ryokan within walking distance of the bamboo grove, with a bath of its own 🛁",
			"Five fit. I send helpers to read what guests wrote, in Japanese too.",
			"予算は一泊四万円までです。",
			"承知しました。三軒に絞ります。",
		},
	},
	{
		id: "20261118_150906_a3d718", parent: newestSegment, role: roleDelegate, source: subagent,
		title: "Read what guests wrote", ended: "done", goes: true,
		said: []string{
			"Read the reviews of five ryokan near the bamboo grove.",
			"Three are praised for quiet; one review is long and in Japanese, so I had it translated.",
		},
	},
	{
		id: "20261118_151040_0be64f", parent: "20261118_150906_a3d718", role: roleDelegate, source: subagent,
		title: "Translate 旅館の口コミ", ended: "done", goes: true,
		said: []string{
			"Translate: 部屋から竹林が見えて、とても静かでした。",
			"“From the room we saw the bamboo, and it was very quiet.”",
		},
	},
	{
		id: keptBranch, parent: "20261109_201855_e08b53", role: roleBranch, source: "desktop",
		title: "Nara with the children?",
		said: []string{
			"What if we take the children to Nara instead?",
			"Deer 🦌, a short way, no 新幹線 needed, and a bamboo garden that is never full.",
		},
	},
	{
		id: "20261121_065812_f16b9e", source: "cli", title: "Học tiếng Việt mỗi ngày",
		said: []string{
			"Dạy tôi mười từ tiếng Việt mỗi ngày, bắt đầu với chủ đề chợ.",
			"Hôm nay: gạo, rau, cá, thịt, trứng, muối, đường, nước mắm, chanh, ớt.",
		},
	},
}

// alone is a conversation of one session, which has ended.
func alone(id, source, title string, said ...string) chat {
	return chat{id: id, source: source, title: title, ended: "done", said: said}
}

// goingAs counts the sessions of a role that the delete must take.
func goingAs(r role) int {
	n := 0
	for _, c := range story {
		if c.goes && c.role == r {
			n++
		}
	}
	return n
}

// going is the set of ids that the delete must take.
func going() map[string]bool {
	ids := map[string]bool{}
	for _, c := range story {
		if c.goes {
			ids[c.id] = true
		}
	}
	return ids
}
