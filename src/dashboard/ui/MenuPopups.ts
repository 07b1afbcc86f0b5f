import { type ButtonHTMLAttributes, type ComponentType, createContext, type ReactElement, type ReactNode } from "react"

export interface MenuProps {
  readonly trigger: ReactElement<ButtonHTMLAttributes<HTMLButtonElement>>
  readonly align?: "start" | "end"
  readonly side?: "top" | "bottom"
  readonly children: ReactNode
}

/** The code for an open menu, loaded on demand. */
export interface MenuPopups {
  /** Starts the download; a failure is shown when the menu is opened. */
  readonly preload: () => void
  /** Suspends until the form has loaded. */
  readonly Popup: ComponentType<MenuProps>
}

/** Provided by the application, since on-demand code imports the pieces that include a menu. */
export const MenuPopups = createContext<MenuPopups | undefined>(undefined)
