import { identifierAt } from "./Identifier.ts"

/** A module call (`module.network`) or a resource (`aws_vpc.main`), with its instance key as written, if any. */
export interface AddressStep {
  readonly name: string
  readonly key: string | undefined
}

/** From the root down to a resource, or to a module. */
export type AddressSteps = ReadonlyArray<AddressStep>

const instanceKey = /\[\s*("(?:[^"\\]|\\.)*"|\d+)\s*\]/y

/** The names between the dots, each with its key; undefined for anything else. */
const partsOf = (text: string): ReadonlyArray<AddressStep> | undefined => {
  const parts: Array<AddressStep> = []
  let at = 0
  for (;;) {
    identifierAt.lastIndex = at
    const name = identifierAt.exec(text)?.[0]
    if (name === undefined) return undefined
    instanceKey.lastIndex = identifierAt.lastIndex
    const key = instanceKey.exec(text)?.[1]
    parts.push({ name, key })
    at = key === undefined ? identifierAt.lastIndex : instanceKey.lastIndex
    if (at === text.length) return parts
    if (text[at] !== ".") return undefined
    at++
  }
}

/** Reads the address of a managed resource, of one of its instances, or of a module. */
export const parseAddress = (text: string): AddressSteps | undefined => {
  const parts = partsOf(text.trim())
  if (parts === undefined) return undefined
  const steps: Array<AddressStep> = []
  let at = 0
  for (; parts[at]?.name === "module" && parts[at]?.key === undefined; at += 2) {
    const call = parts[at + 1]
    if (call === undefined) return undefined
    steps.push({ name: `module.${call.name}`, key: call.key })
  }
  const [type, resource, ...more] = parts.slice(at)
  if (type === undefined) return steps
  if (resource === undefined || more.length > 0 || type.key !== undefined) return undefined
  return [...steps, { name: `${type.name}.${resource.name}`, key: resource.key }]
}

/** True if `pattern` is this resource, a module that contains it, or all instances of either. */
export const covers = (pattern: AddressSteps, address: AddressSteps): boolean =>
  pattern.length <= address.length &&
  pattern.every(({ key, name }, at) => name === address[at]?.name && (key === undefined || key === address[at]?.key))
