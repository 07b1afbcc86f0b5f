import { Menu as Base } from "@base-ui/react/menu"
import type { ReactElement, ReactNode } from "react"
import { Icon, type IconName } from "./Icon.tsx"

interface MenuProps {
  readonly trigger: ReactElement
  readonly align?: "start" | "end"
  readonly side?: "top" | "bottom"
  readonly children: ReactNode
}

export const Menu = ({ trigger, align = "end", side = "bottom", children }: MenuProps) => (
  <Base.Root modal={false}>
    <Base.Trigger render={trigger} />
    <Base.Portal>
      <Base.Positioner className="menu-positioner" align={align} side={side} sideOffset={6}>
        <Base.Popup className="menu">{children}</Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)

interface MenuItemProps {
  readonly icon?: IconName
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly detail?: string
  readonly checked?: boolean
  readonly onSelect: () => void
  readonly children: string
}

export const MenuItem = ({
  icon,
  danger = false,
  disabled = false,
  detail,
  checked,
  onSelect,
  children
}: MenuItemProps) => (
  <Base.Item className={danger ? "menu-item menu-item-danger" : "menu-item"} disabled={disabled} onClick={onSelect}>
    {icon === undefined ? null : <Icon name={icon} />}
    <span className="menu-label">
      {children}
      {detail === undefined ? null : <small>{detail}</small>}
    </span>
    {checked === true ? <Icon name="check" /> : null}
  </Base.Item>
)

export const MenuSeparator = () => <Base.Separator className="menu-separator" />

interface MenuChoiceProps<A extends string> {
  readonly label: string
  readonly value: A
  readonly options: ReadonlyArray<readonly [A, string]>
  readonly onChange: (value: A) => void
}

/** A small set of exclusive choices inside a menu. */
export const MenuChoice = <A extends string>({ label, value, options, onChange }: MenuChoiceProps<A>) => (
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
