import { containsRoundedNumber } from "../../../schema/json/ExactNumbers.ts"
import { type FieldProblem, type Draft, type FormField, type FormModel, problemWhileTyping } from "./FormModel.ts"
import { AreaField, SelectField, TextField } from "../ui/Field.tsx"
import { vocabulary } from "../words/Vocabulary.ts"
import { useBilingual, useWords } from "../words/Words.ts"
import { formWords } from "./Words.ts"

interface InputProps {
  readonly field: FormField
  readonly value: string
  readonly problem: { readonly problem: FieldProblem; readonly detail?: string } | undefined
  readonly onChange: (value: string) => void
  /** Content that is shown after the question's help text. */
  readonly note?: string | undefined
  readonly form?: string | undefined
}

const prettier = (typed: string): string | undefined => {
  try {
    const value: unknown = JSON.parse(typed)
    return containsRoundedNumber(typed) ? undefined : JSON.stringify(value, null, 2)
  } catch {
    return undefined
  }
}

/** Shows the type and the default that the module declares. */
const Declared = ({ field }: { readonly field: FormField }) => {
  const words = useWords(formWords)
  const { defaultJson, typeExpression = field.type } = field
  return (
    <span className="field-declared">
      <span className="visually-hidden">{words.type} </span>
      <code>{typeExpression}</code>
      {defaultJson === undefined ? null : (
        <>
          {" · "}
          {words.default} <code>{defaultJson}</code>
        </>
      )}
    </span>
  )
}

export const VariableInput = ({ field, value, problem: found, onChange, note, form }: InputProps) => {
  const problem = problemWhileTyping(field, value) ?? found
  const words = useWords(formWords)
  const terms = useWords(vocabulary)
  const say = useBilingual()
  const helper = [
    field.helper === undefined ? undefined : say(field.helper),
    field.secret ? words.secretHelp : undefined,
    note ?? (field.hasDefault && !field.required ? words.keepDefault : undefined)
  ].filter((part) => part !== undefined)
  const label = say(field.label)
  const shared = {
    label,
    helper: (
      <>
        {label === field.name ? null : <code className="field-variable">{field.name}</code>}
        <Declared field={field} />
        {helper.length === 0 ? null : <span>{helper.join(" ")}</span>}
      </>
    ),
    error:
      problem === undefined
        ? undefined
        : `${words.problems[problem.problem]}${problem.detail === undefined ? "" : ` ${problem.detail}`}`,
    optional: !field.required,
    name: field.name,
    form
  }
  if (field.type === "boolean") {
    return (
      <SelectField {...shared} value={value} onChange={(event) => onChange(event.target.value)}>
        <option value="">{field.hasDefault ? words.moduleDefault : words.chooseFirst}</option>
        <option value="true">{terms.yes}</option>
        <option value="false">{terms.no}</option>
      </SelectField>
    )
  }
  if (field.type === "json" && !field.secret) {
    return (
      <AreaField
        {...shared}
        mono
        rows={4}
        spellCheck={false}
        placeholder={field.placeholder}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        onBlur={() => {
          const pretty = prettier(value)
          if (pretty !== undefined && pretty !== value) onChange(pretty)
        }}
      />
    )
  }
  return (
    <TextField
      {...shared}
      type={field.secret ? "password" : "text"}
      inputMode={field.type === "number" ? "decimal" : undefined}
      autoComplete={field.secret ? "new-password" : "off"}
      spellCheck={false}
      placeholder={field.placeholder}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    />
  )
}

interface VariableFormProps {
  readonly model: FormModel
  readonly draft: Draft
  readonly problems: ReadonlyMap<string, { readonly problem: FieldProblem; readonly detail?: string }>
  readonly onChange: (name: string, value: string) => void
  readonly noteFor?: (name: string) => string | undefined
  /** The id of the form to which the fields belong, if they are outside that form. */
  readonly form?: string
}

export const VariableForm = ({ model, draft, problems, onChange, noteFor, form }: VariableFormProps) => {
  const words = useWords(formWords)
  const terms = useWords(vocabulary)
  const say = useBilingual()
  const input = (field: FormField) => (
    <VariableInput
      key={field.name}
      field={field}
      value={draft[field.name] ?? ""}
      problem={problems.get(field.name)}
      note={noteFor?.(field.name)}
      form={form}
      onChange={(value) => onChange(field.name, value)}
    />
  )
  const open = model.advanced.some(({ name }) => problems.has(name) || (draft[name] ?? "") !== "")
  return (
    <div className="form">
      {model.groups.length === 0 && model.advanced.length === 0 ? <p className="muted">{words.noInputs}</p> : null}
      {model.groups.map((group) =>
        group.label === undefined ? (
          <div key={group.id} className="form">
            {group.fields.map(input)}
          </div>
        ) : (
          <fieldset key={group.id} className="feature">
            <legend>
              {say(group.label)}
              {group.optional ? <span className="field-optional">{terms.optional}</span> : null}
            </legend>
            {group.fields.map(input)}
          </fieldset>
        )
      )}
      {model.advanced.length === 0 ? null : (
        <details className="fold" open={open || undefined}>
          <summary>{words.advanced(model.advanced.length)}</summary>
          <p className="muted">{words.advancedAbout}</p>
          <div className="form">{model.advanced.map(input)}</div>
        </details>
      )}
      {model.filled.length === 0 ? null : (
        <details className="fold">
          <summary>{words.filled}</summary>
          <ul className="plain-list">
            {model.filled.map(({ name, origin }) => (
              <li key={name}>
                <code>{name}</code> <span className="muted">{words.origins[origin]}</span>
              </li>
            ))}
          </ul>
        </details>
      )}
    </div>
  )
}
