import { createLink } from "@tanstack/react-router"
import type { AnchorHTMLAttributes, ButtonHTMLAttributes, Ref } from "react"
import { Icon, type IconName } from "./Icon.tsx"

export type ButtonTone = "primary" | "plain" | "quiet" | "danger"

interface Look {
  readonly tone?: ButtonTone
  readonly icon?: IconName
  readonly small?: boolean
}

const classOf = ({ tone = "plain", small = false }: Look): string =>
  `button button-${tone}${small ? " button-small" : ""}`

interface ButtonProps extends Look, Omit<ButtonHTMLAttributes<HTMLButtonElement>, "className"> {
  /** Shows that it is busy and ignores clicks, without losing the focus as `disabled` would. */
  readonly busy?: boolean
}

export const Button = ({
  tone,
  icon,
  small,
  busy = false,
  children,
  onClick,
  type = "button",
  ...rest
}: ButtonProps) => (
  <button
    {...rest}
    type={type}
    className={classOf({ ...(tone === undefined ? {} : { tone }), ...(small === undefined ? {} : { small }) })}
    aria-busy={busy || undefined}
    aria-disabled={busy || rest["aria-disabled"]}
    onClick={busy ? (event) => event.preventDefault() : onClick}
  >
    {busy ? <span className="spinner" aria-hidden="true" /> : icon === undefined ? null : <Icon name={icon} />}
    {children}
  </button>
)

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

const Anchor = ({ tone, icon, small, children, ...rest }: AnchorProps) => (
  <a
    {...rest}
    className={classOf({ ...(tone === undefined ? {} : { tone }), ...(small === undefined ? {} : { small }) })}
  >
    {icon === undefined ? null : <Icon name={icon} />}
    {children}
  </a>
)

/** A link that looks like a button: it navigates, so it can be opened in a new tab like any link. */
export const LinkButton = createLink(Anchor)
