// Renders a chart as Helm does: Go's templates with Sprig's functions, and the values of the chart below those of a file. The argument
// is the folder of the chart; standard input is a JSON object with `release` and `values`. The output is the rendered text by file name.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	"github.com/Masterminds/sprig"
	"github.com/ghodss/yaml"
)

func merged(below, above map[string]interface{}) map[string]interface{} {
	for key, value := range above {
		own, isObject := value.(map[string]interface{})
		other, isOther := below[key].(map[string]interface{})
		if isObject && isOther {
			below[key] = merged(other, own)
		} else {
			below[key] = value
		}
	}
	return below
}

func read(file string) map[string]interface{} {
	text, err := os.ReadFile(file)
	check(err)
	result := map[string]interface{}{}
	check(yaml.Unmarshal(text, &result))
	return result
}

func check(err error) {
	if err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
}

func main() {
	folder := os.Args[1]
	var input struct {
		Release map[string]interface{} `json:"release"`
		Values  map[string]interface{} `json:"values"`
	}
	check(json.NewDecoder(os.Stdin).Decode(&input))
	chart := map[string]interface{}{}
	for key, value := range read(filepath.Join(folder, "Chart.yaml")) {
		chart[strings.ToUpper(key[:1])+key[1:]] = value
	}
	data := map[string]interface{}{
		"Chart":   chart,
		"Release": input.Release,
		"Values":  merged(read(filepath.Join(folder, "values.yaml")), input.Values),
	}
	all := template.New("chart").Option("missingkey=zero")
	functions := sprig.TxtFuncMap()
	delete(functions, "env")
	delete(functions, "expandenv")
	functions["include"] = func(name string, data interface{}) (string, error) {
		var out bytes.Buffer
		err := all.ExecuteTemplate(&out, name, data)
		return out.String(), err
	}
	functions["required"] = func(message string, value interface{}) (interface{}, error) {
		if value == nil || value == "" {
			return nil, errors.New(message)
		}
		return value, nil
	}
	functions["toYaml"] = func(value interface{}) (string, error) {
		text, err := yaml.Marshal(value)
		return strings.TrimSuffix(string(text), "\n"), err
	}
	all.Funcs(functions)
	names, err := filepath.Glob(filepath.Join(folder, "templates", "*"))
	check(err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		check(err)
		template.Must(all.New(filepath.Base(name)).Parse(string(text)))
	}
	rendered := map[string]string{}
	for _, name := range names {
		base := filepath.Base(name)
		if strings.HasPrefix(base, "_") {
			continue
		}
		var out bytes.Buffer
		check(all.ExecuteTemplate(&out, base, data))
		rendered[base] = strings.ReplaceAll(out.String(), "<no value>", "")
	}
	check(json.NewEncoder(os.Stdout).Encode(rendered))
}
