package tracker

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"go.etcd.io/bbolt"
)

// formatKey holds the format of the file, which is written with its first
// content: a file is filled whole or not at all.
var (
	metaBucket = []byte("meta")
	formatKey  = []byte("format")
)

const format = "1"

// plan is one project to make.
type plan struct {
	key, name, summary string
	issues             int
	things             []string
}

// publicPlans are the projects that all see.
var publicPlans = []plan{
	{"harbour", "Harbour", "Docks, cranes and the tide gates.", 900, []string{"crane", "tide gate", "mooring winch", "dock lamp", "fuel pump"}},
	{"lantern", "Lantern", "Street lights and what switches them.", 800, []string{"dimmer", "light sensor", "mast", "switch cabinet", "timer"}},
	{"meadow", "Meadow", "Watering of the parks.", 700, []string{"sprinkler", "moisture probe", "valve", "water meter", "mower"}},
	{"orchard", "Orchard", "The press house and its cold store.", 800, []string{"press", "cold store", "bottling line", "weigher", "conveyor"}},
	{"quarry", "Quarry", "Belts, crushers and the weighbridge.", 800, []string{"belt", "crusher", "weighbridge", "dust filter", "loader"}},
}

// privatePlan is the project that only members see.
var privatePlan = plan{"cellar", "Cellar", "Locks, alarms and what is wrong with them.", 200, []string{"door lock", "alarm", "camera mast", "key safe", "badge reader"}}

var (
	faults     = []string{"stalls", "reports a wrong value", "does not start", "stops too early", "makes a grinding noise", "loses its settings", "answers late", "runs hot"}
	conditions = []string{"after a cold start", "in heavy rain", "when two are used at once", "after the last update", "at night", "under full load", "once a week", "on the second site"}
	findings   = []string{"It was seen three times.", "Nobody was hurt.", "A restart helps for an hour.", "The log shows nothing.", "It began after the inspection.", "The spare part behaves alike.", "It cannot be forced."}
	replies    = []string{"Seen here too.", "Could not make it happen.", "A new part is ordered.", "This may be the same as an older one.", "Measured again: no change.", "Please look at it before the weekend."}
	reasons    = []string{"fixed", "duplicate", "cannot be reproduced", "works as intended"}
	labelNames = []string{"bug", "electrical", "mechanical", "question", "safety", "software", "urgent"}
	people     = []string{"bramble", "clover", "dogwood", "elder", "fennel", "gorse", "heather", "juniper"}
)

// began is when the first issue of each project was written.
var began = time.Date(2025, 1, 6, 8, 0, 0, 0, time.UTC)

// fill makes the content of a new file, always the same. What it makes of the
// public projects is the same with and without the private one, but for what
// they say of that.
func fill(tx *bbolt.Tx, private bool) error {
	meta, err := tx.CreateBucketIfNotExists(metaBucket)
	if err != nil {
		return err
	}
	switch found := meta.Get(formatKey); {
	case found == nil:
	case string(found) == format:
		return nil
	default:
		return fmt.Errorf("found format %q, expected %q", found, format)
	}
	for _, name := range [][]byte{projectsBucket, answersBucket, timesBucket} {
		if _, err := tx.CreateBucket(name); err != nil {
			return err
		}
	}
	for _, p := range publicPlans {
		if err := p.fill(tx, false, private); err != nil {
			return err
		}
	}
	if private {
		if err := privatePlan.fill(tx, true, private); err != nil {
			return err
		}
	}
	return meta.Put(formatKey, []byte(format))
}

// fill makes one project.
func (p plan) fill(tx *bbolt.Tx, private, related bool) error {
	b, err := tx.Bucket(projectsBucket).CreateBucket([]byte(p.key))
	if err != nil {
		return err
	}
	for _, name := range [][]byte{issuesBucket, openBucket, commentsBucket} {
		if _, err := b.CreateBucket(name); err != nil {
			return err
		}
	}
	about := project{Name: p.name, Summary: p.summary, Private: private}
	if err := put(b, aboutKey, about); err != nil {
		return err
	}
	at := place{project: &project{key: p.key}}
	random := generator(p.key)
	for at.number = 1; at.number <= uint64(p.issues); at.number++ {
		i := p.issue(random, int(at.number))
		// Without drawing a number: what is hidden moves nothing else.
		if related && at.number%25 == 0 {
			i.Related = append([]string{fmt.Sprintf("/%s/%d", privatePlan.key, 1+int(at.number)%privatePlan.issues)}, i.Related...)
		}
		for n := range i.Comments {
			said := i.Created + int64(n+1)*90*time.Minute.Milliseconds()
			c := comment{Author: pick(random, people), Body: pick(random, replies), Created: said}
			if err := put(bucket(tx, at.project, commentsBucket), commentKey(at.number, n+1), c); err != nil {
				return err
			}
		}
		if err := writeIssue(tx, at, i); err != nil {
			return err
		}
	}
	return nil
}

// issue makes an issue.
func (p plan) issue(random *rand.Rand, n int) issue {
	thing, fault, condition := pick(random, p.things), pick(random, faults), pick(random, conditions)
	i := issue{
		Title:    strings.ToUpper(thing[:1]) + thing[1:] + " " + fault + " " + condition,
		Author:   pick(random, people),
		Created:  millis(began.Add(time.Duration(n) * 7 * time.Hour)),
		Comments: uint64(random.IntN(5)),
	}
	i.Body = fmt.Sprintf("The %s %s %s. %s %s", thing, fault, condition, pick(random, findings), pick(random, findings))
	for range random.IntN(4) {
		i.Labels = append(i.Labels, pick(random, labelNames))
	}
	slices.Sort(i.Labels)
	i.Labels = slices.Compact(i.Labels)
	if random.IntN(3) > 0 {
		i.Assignee = pick(random, people)
	}
	if random.IntN(4) == 0 {
		i.Due = i.Created + int64(random.IntN(90))*24*time.Hour.Milliseconds()
	}
	if random.IntN(10) < 3 {
		i.Closed, i.Reason = i.Created+int64(1+random.IntN(60))*24*time.Hour.Milliseconds(), pick(random, reasons)
	}
	for range random.IntN(4) {
		other := publicPlans[random.IntN(len(publicPlans))]
		path := fmt.Sprintf("/%s/%d", other.key, 1+random.IntN(other.issues))
		if path != fmt.Sprintf("/%s/%d", p.key, n) && !slices.Contains(i.Related, path) {
			i.Related = append(i.Related, path)
		}
	}
	return i
}

// generator returns a source of numbers that depends on the project alone.
func generator(key string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(key))
	return rand.New(rand.NewPCG(1, h.Sum64()))
}

func pick(random *rand.Rand, from []string) string { return from[random.IntN(len(from))] }
