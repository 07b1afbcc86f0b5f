import { createLink } from "@tanstack/react-router"
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, Ref } from "react"
import { useReachable } from "../api/Reachability.ts"
import { vocabulary } from "../words/Vocabulary.ts"
import { useWords } from "../words/Words.ts"
import { Icon, type IconName } from "./Icon.tsx"

export type ButtonTone = "primary" | "plain" | "quiet" | "danger"

interface Look {
  readonly tone?: ButtonTone
  readonly icon?: IconName
  readonly small?: boolean
  /** The subject of the row. It is part of the accessible name if several rows of a list have the same button. */
  readonly of?: string | undefined
}

const Subject = ({ of }: Pick<Look, "of">) =>
  of === undefined ? null : <span className="visually-hidden">: {of}</span>

const classOf = ({ tone = "plain", small = false }: Look): string =>
  `button button-${tone}${small ? " button-small" : ""}`

interface ButtonProps extends Look, Omit<ButtonHTMLAttributes<HTMLButtonElement>, "className"> {
  /** The decision for which the button opens a dialog on the page of a Run. */
  readonly "data-decide"?: "approve" | "discard"
  /**
   * True while the button's decision is being sent. The button then appears busy, ignores clicks and keeps the focus. With
   * `disabled`, it would lose the focus. While the server is unreachable, a button with this property is also inactive.
   */
  readonly busy?: boolean
}

export const Button = ({ tone, icon, small, of, busy, children, onClick, type = "button", ...rest }: ButtonProps) => {
  const terms = useWords(vocabulary)
  const reachable = useReachable()
  const off = busy !== undefined && !reachable
  return (
    <button
      {...rest}
      type={type}
      title={off ? terms.fault.unreachableNow : rest.title}
      className={classOf({ ...(tone === undefined ? {} : { tone }), ...(small === undefined ? {} : { small }) })}
      aria-busy={busy || undefined}
      aria-disabled={busy || off || rest["aria-disabled"]}
      onClick={busy || off ? (event) => event.preventDefault() : onClick}
    >
      {busy ? <span className="spinner" aria-hidden="true" /> : icon === undefined ? null : <Icon name={icon} />}
      {children}
      <Subject of={of} />
    </button>
  )
}

interface IconButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "className" | "children"> {
  readonly icon: IconName
  readonly label: string
}

export const IconButton = ({ icon, label, type = "button", ...rest }: IconButtonProps) => (
  <button {...rest} type={type} className="icon-button" aria-label={label} title={label}>
    <Icon name={icon} />
  </button>
)

type AnchorProps = Look &
  Omit<AnchorHTMLAttributes<HTMLAnchorElement>, "className"> & { readonly ref?: Ref<HTMLAnchorElement> }

const Anchor = ({ tone, icon, small, of, children, ...rest }: AnchorProps) => (
  <a
    {...rest}
    className={classOf({ ...(tone === undefined ? {} : { tone }), ...(small === undefined ? {} : { small }) })}
  >
    {icon === undefined ? null : <Icon name={icon} />}
    {children}
    <Subject of={of} />
  </a>
)

/** A link that looks like a button. Like any link, it can be opened in a new tab. */
export const LinkButton = createLink(Anchor)
