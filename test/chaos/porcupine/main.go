// Reads the history of markers as JSON lines, checks each marker as a register of its own with Porcupine, and prints a
// verdict as JSON: how many are linearizable, which are not, and on which it could not decide in time.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"time"

	"github.com/anishathalye/porcupine"
)

const decidesWithin = time.Minute

// One operation. Return is -1 if nobody knows whether it happened: it may at any time after its call, or never.
type operation struct {
	Key      string
	Kind     string
	Result   string
	Client   int
	Value    *int64 // what it writes, or what it was told
	Version  *int64 // what it was told
	Expected *int64 // expectedVersion
	Call     int64
	Return   int64
}

// A marker; the zero value is one that does not exist.
type register struct {
	present bool
	value   int64 // of the former marker if there is none
	version int64
}

func told(state register, op operation) bool {
	return state.present && op.Value != nil && *op.Value == state.value && op.Version != nil && *op.Version == state.version
}

func hasVersion(state register, expected *int64) bool {
	return expected == nil || *expected == state.version
}

func step(s, in, _ interface{}) (bool, interface{}) {
	state, op := s.(register), in.(operation)
	switch op.Kind {
	case "read":
		if op.Value == nil {
			return !state.present, state
		}
		return told(state, op), state
	case "create":
		if op.Result == "CONFLICT" {
			return state.present, state
		}
		if state.present {
			return op.Result == "unknown", state
		}
		return op.Result == "unknown" || *op.Version == 1, register{true, *op.Value, 1}
	case "update":
		switch {
		case op.Result == "NOT_FOUND":
			return !state.present, state
		case op.Result == "CONFLICT":
			return state.present && !hasVersion(state, op.Expected), state
		case !state.present || !hasVersion(state, op.Expected):
			return op.Result == "unknown", state
		}
		next := register{true, *op.Value, state.version + 1}
		return op.Result == "unknown" || *op.Version == next.version, next
	case "upsert":
		if !state.present {
			return op.Result != "updated", register{true, *op.Value, 1}
		}
		return op.Result != "created", register{true, *op.Value, state.version + 1}
	case "delete":
		switch {
		case op.Result == "NOT_FOUND":
			return !state.present, state
		case op.Result == "ok":
			// Whose answer was lost is told so, too, if another client has deleted the same marker meanwhile.
			state.present = true
			return told(state, op), register{false, state.value, state.version}
		}
		return true, register{false, state.value, state.version} // Deleted in a batch, which does not say whether it existed, or unknown.
	}
	panic("unknown kind " + op.Kind)
}

func main() {
	histories := map[string][]porcupine.Operation{}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var op operation
		if err := json.Unmarshal(lines.Bytes(), &op); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		if op.Return < 0 {
			op.Return = math.MaxInt64
		}
		one := porcupine.Operation{ClientId: op.Client, Input: op, Call: op.Call, Return: op.Return}
		histories[op.Key] = append(histories[op.Key], one)
	}
	if err := lines.Err(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	model := porcupine.Model{
		Init: func() interface{} { return register{} },
		Step: step,
	}
	verdict := map[string][]string{"linearizable": {}, "violations": {}, "undecided": {}}
	names := map[porcupine.CheckResult]string{
		porcupine.Ok: "linearizable", porcupine.Illegal: "violations", porcupine.Unknown: "undecided",
	}
	for key, history := range histories {
		name := names[porcupine.CheckOperationsTimeout(model, history, decidesWithin)]
		verdict[name] = append(verdict[name], key)
	}
	if err := json.NewEncoder(os.Stdout).Encode(verdict); err != nil {
		os.Exit(2)
	}
}
