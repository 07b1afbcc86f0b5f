import type { PlacedBlock } from "./BlockMerge.ts"
import type { ConfigValue } from "./ConfigValue.ts"
import type { ModuleAddresses } from "./ScannedModule.ts"
import { identifierAt } from "./Identifier.ts"

/** A module call (`module.network`) or a resource (`aws_vpc.main`), with its instance key as written, if any. */
interface AddressStep {
  readonly name: string
  readonly key: string | undefined
}

/** Steps from the root down to a resource or module. */
type AddressSteps = ReadonlyArray<AddressStep>

const instanceKey = /\[\s*("(?:[^"\\]|\\.)*"|\d+)\s*\]/y

/** Splits an address into the names between the dots, each with its key. Returns `undefined` for any other text. */
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

/** Parses the address of a managed resource, of an instance, or of a module. */
const parseAddress = (text: string): AddressSteps | undefined => {
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

/** Returns true if `pattern` is this resource, a module that contains it, or all instances of that resource or module. */
const covers = (pattern: AddressSteps, address: AddressSteps): boolean =>
  pattern.length <= address.length &&
  pattern.every(({ key, name }, at) => name === address[at]?.name && (key === undefined || key === address[at]?.key))

const textOf = (value: ConfigValue | undefined): string | undefined =>
  value?.kind === "string" ? value.value : value?.kind === "expression" ? value.text : undefined

const addressIn = ({ attributes }: PlacedBlock, name: string): ReadonlyArray<string> => {
  const text = textOf(attributes.get(name)?.value)
  return text === undefined || parseAddress(text) === undefined ? [] : [text.trim()]
}

/** Reads the declarations in the blocks of one folder, relative to that folder. */
export const readAddresses = (blocks: ReadonlyArray<PlacedBlock>): ModuleAddresses => ({
  declared: blocks.flatMap(({ labels, type }) => (type === "resource" ? [labels.join(".")] : [])),
  moved: blocks.flatMap((block) =>
    block.type !== "moved"
      ? []
      : addressIn(block, "from").flatMap((from) => addressIn(block, "to").map((to) => ({ from, to })))
  ),
  removed: blocks.flatMap((block) => (block.type === "removed" ? addressIn(block, "from") : []))
})

/** Converts the addresses in a module that is called as `key` to addresses from the root. */
export const addressesBelow = (key: string, { declared, moved, removed }: ModuleAddresses): ModuleAddresses => {
  const prefix = key
    .split(".")
    .map((name) => `module.${name}.`)
    .join("")
  const below = (address: string) => `${prefix}${address}`
  return {
    declared: declared.map(below),
    moved: moved.map(({ from, to }) => ({ from: below(from), to: below(to) })),
    removed: removed.map(below)
  }
}

/** Maximum number of consecutive moves. It exceeds the number in any real module, and also puts an end to circular moves. */
const longestChain = 16

const parsed = (texts: ReadonlyArray<string>): ReadonlyArray<AddressSteps> =>
  texts.flatMap((text) => {
    const steps = parseAddress(text)
    return steps === undefined ? [] : [steps]
  })

const nameOf = (steps: AddressSteps) => steps.map(({ name }) => name).join(".")

/** Returns the address after moving `from` to `to`. An instance key moves with it. */
const movedTo = (from: AddressSteps, to: AddressSteps, address: AddressSteps): AddressSteps => {
  const key = address[from.length - 1]?.key
  const target = to.map((step, at) => (at === to.length - 1 && step.key === undefined ? { ...step, key } : step))
  return [...target, ...address.slice(from.length)]
}

/** Returns the sorted addresses that the module neither declares nor covers with a `moved` or `removed` block. */
export const undeclaredAddresses = (
  module: ModuleAddresses,
  addresses: ReadonlyArray<string>
): ReadonlyArray<string> => {
  const declared = new Set(parsed(module.declared).map(nameOf))
  const removed = parsed(module.removed)
  const moves = module.moved.flatMap(({ from, to }) => {
    const [start, end] = parsed([from, to])
    return start === undefined || end === undefined ? [] : [{ from: start, to: end }]
  })
  const isCovered = (address: AddressSteps, movesLeft: number): boolean =>
    declared.has(nameOf(address)) ||
    removed.some((pattern) => covers(pattern, address)) ||
    (movesLeft > 0 &&
      moves.some(({ from, to }) => covers(from, address) && isCovered(movedTo(from, to, address), movesLeft - 1)))
  return addresses.filter((text) => {
    const address = parseAddress(text)
    return address === undefined || !isCovered(address, longestChain)
  })
}
