package main

import (
	"errors"
	"strconv"
	"time"

	"github.com/spf13/pflag"

	"session-sidecar/internal/lazyregexp"
	"session-sidecar/methods"
)

// keepFlag is --keep: a number of days, as in 30d.
type keepFlag struct{ days int }

func (k *keepFlag) String() string {
	if k.days == 0 {
		return ""
	}
	return strconv.Itoa(k.days) + "d"
}

// Type is what the help calls the value.
func (k *keepFlag) Type() string { return "DAYS" }

// keepForm is how days are spelled.
var keepForm = lazyregexp.New(`^([1-9][0-9]?)d?$`)

// Set takes 30d, or 30.
func (k *keepFlag) Set(text string) error {
	spelled := keepForm().FindStringSubmatch(text)
	if spelled == nil {
		return errKeep
	}
	days, err := strconv.Atoi(spelled[1])
	if err != nil || days > methods.MaxKeepDays {
		return errKeep
	}
	k.days = days
	return nil
}

var errKeep = errors.New("it is a number of days from 1d to 90d")

func (k *keepFlag) add(flags *pflag.FlagSet, usage string) { flags.Var(k, "keep", usage) }

// until is the day on which what is deleted now goes for good.
func (k *keepFlag) until() string {
	at := float64(time.Now().Add(time.Duration(k.days) * 24 * time.Hour).Unix())
	return dayText(&at)
}

// addTo asks for what is kept.
func (k *keepFlag) addTo(params map[string]any) map[string]any {
	if k.days > 0 {
		params["keep_days"] = k.days
	}
	return params
}
