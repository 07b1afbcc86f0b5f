import {
  type InputHTMLAttributes,
  type ReactNode,
  type SelectHTMLAttributes,
  type TextareaHTMLAttributes,
  useId
} from "react"
import { useReachable } from "../api/Reachability.ts"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"

interface FieldProps {
  readonly label: string
  readonly helper?: ReactNode
  readonly error?: string | undefined
  readonly optional?: boolean
}

interface Ids {
  readonly id: string
  readonly "aria-describedby": string | undefined
  readonly "aria-invalid": true | undefined
}

/** Label, control, help and error, always in this order and connected for assistive technology. */
const Frame = ({
  label,
  helper,
  error,
  optional = false,
  children
}: FieldProps & { readonly children: (ids: Ids) => ReactNode }) => {
  const id = useId()
  const words = useWords(vocabulary)
  const described = [helper === undefined ? "" : `${id}-help`, error === undefined ? "" : `${id}-error`]
    .filter((part) => part !== "")
    .join(" ")
  return (
    <div className="field">
      <label htmlFor={id}>
        {label}
        {optional ? <span className="field-optional">{words.optional}</span> : null}
      </label>
      {children({
        id,
        "aria-describedby": described === "" ? undefined : described,
        "aria-invalid": error === undefined ? undefined : true
      })}
      {error === undefined ? null : (
        <p className="field-error" id={`${id}-error`}>
          {error}
        </p>
      )}
      {helper === undefined ? null : (
        <div className="field-help" id={`${id}-help`}>
          {helper}
        </div>
      )}
    </div>
  )
}

type TextProps = FieldProps &
  Omit<InputHTMLAttributes<HTMLInputElement>, "id" | "className"> & { readonly mono?: boolean }

export const TextField = ({ label, helper, error, optional, mono = false, ...input }: TextProps) => (
  <Frame label={label} helper={helper} error={error} {...(optional === undefined ? {} : { optional })}>
    {(ids) => <input {...input} {...ids} className={mono ? "input input-mono" : "input"} />}
  </Frame>
)

type AreaProps = FieldProps &
  Omit<TextareaHTMLAttributes<HTMLTextAreaElement>, "id" | "className"> & { readonly mono?: boolean }

export const AreaField = ({ label, helper, error, optional, mono = false, ...area }: AreaProps) => (
  <Frame label={label} helper={helper} error={error} {...(optional === undefined ? {} : { optional })}>
    {(ids) => <textarea {...area} {...ids} className={mono ? "input input-mono input-area" : "input input-area"} />}
  </Frame>
)

interface SavedProps {
  /**
   * For a field that is saved when it changes: true while the change is being sent. The field then ignores changes and keeps the
   * focus, which `disabled` would not. While the server is unreachable, a field with this property is also inactive.
   */
  readonly busy?: boolean
}

/** Attributes of a field that is saved when it changes. Without `onChange`, a controlled field keeps its value. */
const useSaved = (busy: boolean | undefined) => {
  const reachable = useReachable()
  const terms = useWords(vocabulary)
  if (busy === undefined) return undefined
  const ignored = { "aria-disabled": true, onChange: () => undefined } as const
  if (!reachable) return { ...ignored, title: terms.fault.unreachableNow }
  return busy ? ignored : undefined
}

type SelectProps = FieldProps & SavedProps & Omit<SelectHTMLAttributes<HTMLSelectElement>, "id" | "className">

export const SelectField = ({ label, helper, error, optional, children, busy, ...select }: SelectProps) => {
  const saved = useSaved(busy)
  return (
    <Frame label={label} helper={helper} error={error} {...(optional === undefined ? {} : { optional })}>
      {(ids) => (
        <select {...select} {...ids} {...saved} className="input input-select">
          {children}
        </select>
      )}
    </Frame>
  )
}

type CheckProps = Omit<InputHTMLAttributes<HTMLInputElement>, "id" | "className" | "type"> &
  SavedProps & {
    readonly label: string
    readonly helper?: ReactNode
  }

export const CheckField = ({ label, helper, busy, ...input }: CheckProps) => {
  const id = useId()
  const saved = useSaved(busy)
  return (
    <div className="check">
      <input
        {...input}
        {...saved}
        type="checkbox"
        id={id}
        aria-describedby={helper === undefined ? undefined : `${id}-help`}
      />
      <label htmlFor={id}>{label}</label>
      {helper === undefined ? null : (
        <div className="field-help" id={`${id}-help`}>
          {helper}
        </div>
      )}
    </div>
  )
}
