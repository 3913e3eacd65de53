// Command robfig answers the lines of `gitops-windows cron -` with robfig/cron v3, the library that fires
// CronJobs, so that the two can be compared.
//
// Each line of standard input is EXPR, ZONE, FROM and COUNT separated by tabs. The answer is "error",
// "never", or the next COUNT firings strictly after FROM in UTC, separated by single spaces.
//
// With -messages an error is followed by a colon, a space and its text. With -offsets a line is ZONE and
// Unix seconds instead, and the answer is that zone's offset from UTC in seconds. With -time the program
// says on standard error how many firings it computed and in how many nanoseconds of processor time, parsing
// left out.
package main

import (
	"bufio"
	"errors"
	"flag"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
	_ "time/tzdata"

	"github.com/robfig/cron/v3"
)

var (
	messages = flag.Bool("messages", false, "tell the text of errors")
	offsets  = flag.Bool("offsets", false, "answer offsets")
	timed    = flag.Bool("time", false, "tell how long the firings took")

	// What -time runs again, by itself.
	questions []question

	// A part of a zone's name, as the API server takes it.
	part = regexp.MustCompile(`^[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}$`)

	zones = map[string]*time.Location{}
)

type question struct {
	schedule cron.Schedule
	from     time.Time
	count    uint64
}

func main() {
	flag.Parse()
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(make([]byte, 1<<20), 1<<20)
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	for in.Scan() {
		answer, err := answerLine(in.Text())
		switch {
		case err == nil:
		case *messages:
			answer = "error: " + err.Error()
		default:
			answer = "error"
		}
		fmt.Fprintln(out, answer)
	}
	if *timed {
		tellTime()
	}
}

func answerLine(line string) (string, error) {
	parts := strings.Split(line, "\t")
	if *offsets && len(parts) == 2 {
		return offset(parts[0], parts[1])
	}
	if len(parts) != 4 {
		return "", errors.New("not four parts")
	}
	// The rules of Kubernetes about TZ come before those of the library, as a prefix without a space makes
	// the library panic.
	if strings.Contains(parts[0], "TZ") {
		return "", errors.New("cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	}
	schedule, err := cron.ParseStandard(parts[0])
	if err != nil {
		return "", err
	}
	zone, err := load(parts[1])
	if err != nil {
		return "", err
	}
	from, err := time.Parse(time.RFC3339, parts[2])
	if err != nil {
		return "", err
	}
	count, err := strconv.ParseUint(parts[3], 10, 32)
	if err != nil {
		return "", err
	}
	if count == 0 {
		return "", errors.New("nothing is asked for")
	}
	if spec, ok := schedule.(*cron.SpecSchedule); ok {
		// The same as the prefix TZ= that the CronJob controller sets, without loading the zone again.
		spec.Location = zone
	}
	times := make([]time.Time, 0, count)
	if *timed {
		questions = append(questions, question{schedule, from, count})
	}
	for t := from; uint64(len(times)) < count; {
		t = schedule.Next(t)
		if t.IsZero() {
			break
		}
		times = append(times, t)
	}
	if len(times) == 0 {
		return "never", nil
	}
	var answer strings.Builder
	for i, t := range times {
		if i > 0 {
			answer.WriteByte(' ')
		}
		answer.WriteString(t.UTC().Format("2006-01-02T15:04:05Z"))
	}
	return answer.String(), nil
}

// tellTime computes all firings once more and tells their number and the processor time they took.
func tellTime() {
	processor := func() int64 {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			return time.Now().UnixNano()
		}
		return usage.Utime.Nano() + usage.Stime.Nano()
	}
	evaluations := 0
	start := processor()
	for _, q := range questions {
		t := q.from
		for i := uint64(0); i < q.count; i++ {
			t = q.schedule.Next(t)
			evaluations++
			if t.IsZero() {
				break
			}
		}
	}
	fmt.Fprintf(os.Stderr, "%d %d\n", evaluations, processor()-start)
}

// load is the API server's validateTimeZone.
func load(name string) (*time.Location, error) {
	if zone, ok := zones[name]; ok {
		return zone, nil
	}
	if name == "" || strings.EqualFold(name, "Local") {
		return nil, errors.New("not an explicit time zone")
	}
	for _, p := range strings.Split(name, "/") {
		if p == "." || p == ".." || !part.MatchString(p) {
			return nil, errors.New("unknown time zone")
		}
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	zones[name] = zone
	return zone, nil
}

func offset(name, at string) (string, error) {
	zone, err := load(name)
	if err != nil {
		return "", err
	}
	second, err := strconv.ParseInt(at, 10, 64)
	if err != nil {
		return "", err
	}
	_, offset := time.Unix(second, 0).In(zone).Zone()
	return strconv.Itoa(offset), nil
}
