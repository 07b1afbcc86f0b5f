import "../app/Kit.ts"
import { Menu as Base } from "@base-ui/react/menu"
import { useState } from "react"
import { MenuParts } from "./MenuParts.ts"
import type { MenuProps } from "./MenuPopups.ts"

/** Opens the menu at once, because the click that opens it also loads its code. */
export const MenuPopup = ({ trigger, align = "end", side = "bottom", children }: MenuProps) => {
  const [anchor, setAnchor] = useState<HTMLElement | null>(null)
  // The popup is rendered in the landmark or dialog that contains its trigger, because an element outside a modal dialog
  // cannot appear above the dialog.
  const container = anchor?.closest<HTMLElement>("dialog, aside, main") ?? null
  return (
    <MenuParts value={Base}>
      <Base.Root modal={false} defaultOpen>
        <span ref={setAnchor} className="menu-anchor">
          <Base.Trigger render={trigger} />
        </span>
        <Base.Portal container={container}>
          <Base.Positioner className="menu-positioner" positionMethod="fixed" align={align} side={side} sideOffset={6}>
            <Base.Popup className="menu">{children}</Base.Popup>
          </Base.Positioner>
        </Base.Portal>
      </Base.Root>
    </MenuParts>
  )
}
