import { Menu as Base } from "@base-ui/react/menu"
import { type ReactElement, type ReactNode, useState } from "react"
import { Icon, type IconName } from "./Icon.tsx"

interface MenuProps {
  readonly trigger: ReactElement
  readonly align?: "start" | "end"
  readonly side?: "top" | "bottom"
  readonly children: ReactNode
}

export const Menu = ({ trigger, align = "end", side = "bottom", children }: MenuProps) => {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  // Drawn inside the landmark of its trigger; and inside its dialog, above which nothing outside can be drawn.
  const container = anchor?.closest<HTMLElement>("dialog, aside, main") ?? null
  return (
    <Base.Root modal={false}>
      <span ref={setAnchor} className="menu-anchor">
        <Base.Trigger render={trigger} />
      </span>
      <Base.Portal container={container}>
        <Base.Positioner className="menu-positioner" positionMethod="fixed" align={align} side={side} sideOffset={6}>
          <Base.Popup className="menu">{children}</Base.Popup>
        </Base.Positioner>
      </Base.Portal>
    </Base.Root>
  )
}

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
