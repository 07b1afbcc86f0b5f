import { useEffect, useRef } from "react"
import type { InstallConfig } from "../../api/Types.ts"
import type { Draft, FieldProblem, FormField, FormModel } from "../../forms/FormModel.ts"
import { VariableForm } from "../../forms/VariableForm.tsx"
import { Panel } from "../../ui/Layout.tsx"
import { useWords } from "../../words/Words.ts"
import { Source, type SourceOf } from "./Inputs.tsx"
import { inputWords } from "./InputWords.ts"
import { capsuleWords } from "./Words.ts"

/** New values for inputs, and the names of inputs whose values are removed. */
export interface InputChange {
  readonly draft: Draft
  readonly removed: ReadonlySet<string>
}

interface ChangeInputsProps {
  readonly config: InstallConfig
  readonly model: FormModel
  readonly fields: ReadonlyArray<FormField>
  readonly sourceOf: SourceOf
  readonly problems: ReadonlyMap<string, { readonly problem: FieldProblem; readonly detail?: string }>
  readonly change: InputChange
  readonly onChange: (change: InputChange) => void
}

/**
 * The form for the inputs that people can set. Inputs that get their value from another Capsule are listed but cannot be
 * edited.
 */
export const ChangeInputs = ({ change, config, fields, model, onChange, problems, sourceOf }: ChangeInputsProps) => {
  const words = useWords(capsuleWords)
  const inputs = useWords(inputWords)
  const form = useRef<HTMLDivElement>(null)
  // Focuses the form, because the button that opened it no longer exists.
  useEffect(() => form.current?.querySelector<HTMLElement>("input, select, textarea")?.focus(), [])
  const sources = new Map(config.variables.map((variable) => [variable.name, sourceOf(variable)]))
  const isSet = new Set(config.variables.filter((variable) => variable.set).map(({ name }) => name))
  const isRequired = new Set(config.variables.filter((variable) => variable.required).map(({ name }) => name))
  const removable = fields.filter(({ name }) => isSet.has(name) && !isRequired.has(name))
  const without = (name: string) => new Set([...change.removed].filter((each) => each !== name))
  const noteFor = (name: string) => {
    const source = sources.get(name)
    if (isSet.has(name)) return words.configSet
    return source?.kind === "connection" ? `${inputs.fromConnection} ${source.displayName}` : undefined
  }
  return (
    <Panel title={words.configTitle} about={words.configAbout}>
      <div className="stack" ref={form}>
        <VariableForm
          model={model}
          draft={change.draft}
          problems={problems}
          onChange={(name, value) => onChange({ draft: { ...change.draft, [name]: value }, removed: without(name) })}
          noteFor={noteFor}
        />
        {[...sources].map(([name, source]) =>
          source.kind === "injected" ? (
            <p key={name}>
              <code>{name}</code> <Source source={source} />
            </p>
          ) : null
        )}
        {removable.length === 0 ? null : (
          <details className="fold">
            <summary>{words.configReset}</summary>
            <ul className="plain-list">
              {removable.map(({ name }) => (
                <li key={name}>
                  <label className="inline-check">
                    <input
                      type="checkbox"
                      checked={change.removed.has(name)}
                      onChange={(event) =>
                        onChange({
                          ...change,
                          removed: event.target.checked ? new Set([...change.removed, name]) : without(name)
                        })
                      }
                    />{" "}
                    <code>{name}</code>
                  </label>
                </li>
              ))}
            </ul>
          </details>
        )}
      </div>
    </Panel>
  )
}
