import type { ElementType, Key } from "react"
import { Fragment, jsx as create, jsxs as createMany, type JSX } from "react/jsx-runtime"
import { visibleText } from "../../../schema/records/VisibleText.ts"

/*
 * The functions to which the dashboard's JSX is compiled (`jsxImportSource` in tsconfig.json). They escape invisible
 * characters in the text of elements, and in attributes that are shown or read aloud, so that individual screens do not have
 * to. The values of form fields remain unchanged.
 */

const shownAttributes: ReadonlySet<string> = new Set([
  "title",
  "alt",
  "placeholder",
  "aria-label",
  "aria-description",
  "aria-valuetext"
])

const visibleChild = (child: unknown): unknown => {
  if (typeof child === "string") return visibleText(child)
  if (!Array.isArray(child)) return child
  const shown = child.map(visibleChild)
  return shown.some((one, index) => one !== child[index]) ? shown : child
}

// An attribute of a component may be a value that is not shown, so it is not escaped here. Its text is escaped when the
// component renders it in an element.
const visibleProp = (isElement: boolean, name: string, value: unknown): unknown => {
  if (name === "children") return visibleChild(value)
  return isElement && typeof value === "string" && shownAttributes.has(name) ? visibleText(value) : value
}

const visibleProps = (type: unknown, props: unknown): unknown => {
  if (typeof props !== "object" || props === null) return props
  const changed = Object.entries(props).flatMap(([name, value]) => {
    const shown = visibleProp(typeof type === "string", name, value)
    return shown === value ? [] : [[name, shown] as const]
  })
  return changed.length === 0 ? props : { ...props, ...Object.fromEntries(changed) }
}

type Create = typeof create

const jsx: Create = (type, props, key) => create(type, visibleProps(type, props), key)
const jsxs: Create = (type, props, key) => createMany(type, visibleProps(type, props), key)

/** The variant that a development build calls. */
const jsxDEV = (type: ElementType, props: unknown, key: Key | undefined, hasFixedChildren: boolean) =>
  hasFixedChildren ? jsxs(type, props, key) : jsx(type, props, key)

export { Fragment, type JSX, jsx, jsxDEV, jsxs }
