import { cloneElement, Suspense, use, useState } from "react"
import { useReachable } from "../api/Reachability.ts"
import { Icon, type IconName } from "./Icon.tsx"
import { MenuParts } from "./MenuParts.ts"
import { MenuPopups, type MenuProps } from "./MenuPopups.ts"

/** A button that opens a menu. */
export const Menu = (props: MenuProps) => {
  const popups = use(MenuPopups)
  if (popups === undefined) throw new Error("A menu needs MenuPopups: put the page inside of it")
  const [asked, setAsked] = useState(false)
  const closed = (
    <span className="menu-anchor">
      {cloneElement(props.trigger, {
        "aria-haspopup": "menu",
        "aria-expanded": false,
        onClick: () => setAsked(true),
        onFocus: popups.preload,
        onPointerEnter: popups.preload
      })}
    </span>
  )
  return <Suspense fallback={closed}>{asked ? <popups.Popup {...props} /> : closed}</Suspense>
}

interface MenuItemProps {
  readonly icon?: IconName
  readonly danger?: boolean
  readonly disabled?: boolean
  /**
   * True while the entry's decision is being sent, as for a button. An entry with this property is inactive while the server
   * is unreachable.
   */
  readonly busy?: boolean
  readonly detail?: string
  readonly checked?: boolean
  readonly onSelect: () => void
  readonly children: string
}

export const MenuItem = ({
  icon,
  danger = false,
  disabled = false,
  busy,
  detail,
  checked,
  onSelect,
  children
}: MenuItemProps) => {
  const Base = use(MenuParts)
  const reachable = useReachable()
  return Base === undefined ? null : (
    <Base.Item
      className={danger ? "menu-item menu-item-danger" : "menu-item"}
      disabled={disabled || (busy !== undefined && (busy || !reachable))}
      onClick={onSelect}
    >
      {icon === undefined ? null : <Icon name={icon} />}
      <span className="menu-label">
        {children}
        {detail === undefined ? null : <small>{detail}</small>}
      </span>
      {checked === true ? <Icon name="check" /> : null}
    </Base.Item>
  )
}

export const MenuSeparator = () => {
  const Base = use(MenuParts)
  return Base === undefined ? null : <Base.Separator className="menu-separator" />
}

interface MenuChoiceProps<A extends string> {
  readonly label: string
  readonly value: A
  readonly options: ReadonlyArray<readonly [A, string]>
  readonly onChange: (value: A) => void
}

/** A few exclusive choices in a menu. */
export const MenuChoice = <A extends string>({ label, value, options, onChange }: MenuChoiceProps<A>) => {
  const Base = use(MenuParts)
  return Base === undefined ? null : (
    <Base.RadioGroup value={value} onValueChange={onChange}>
      <Base.Group>
        <Base.GroupLabel className="menu-group">{label}</Base.GroupLabel>
        {options.map(([option, name]) => (
          <Base.RadioItem key={option} value={option} className="menu-item" closeOnClick={false}>
            <span className="menu-label">{name}</span>
            <Base.RadioItemIndicator>
              <Icon name="check" />
            </Base.RadioItemIndicator>
          </Base.RadioItem>
        ))}
      </Base.Group>
    </Base.RadioGroup>
  )
}
