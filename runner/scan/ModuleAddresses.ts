import type { PlacedBlock } from "./BlockMerge.ts"
import type { ConfigValue } from "./ConfigValue.ts"
import type { ModuleAddresses } from "./ScannedModule.ts"
import { type AddressSteps, covers, parseAddress } from "./ResourceAddress.ts"

const textOf = (value: ConfigValue | undefined): string | undefined =>
  value?.kind === "string" ? value.value : value?.kind === "expression" ? value.text : undefined

const addressIn = ({ attributes }: PlacedBlock, name: string): ReadonlyArray<string> => {
  const text = textOf(attributes.get(name)?.value)
  return text === undefined || parseAddress(text) === undefined ? [] : [text.trim()]
}

/** The declarations of the blocks in one folder, relative to that folder. */
export const readAddresses = (blocks: ReadonlyArray<PlacedBlock>): ModuleAddresses => ({
  declared: blocks.flatMap(({ labels, type }) => (type === "resource" ? [labels.join(".")] : [])),
  moved: blocks.flatMap((block) =>
    block.type !== "moved"
      ? []
      : addressIn(block, "from").flatMap((from) => addressIn(block, "to").map((to) => ({ from, to })))
  ),
  removed: blocks.flatMap((block) => (block.type === "removed" ? addressIn(block, "from") : []))
})

/** The addresses in a module called under `key`, in the root's view. */
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

/** Exceeds the consecutive moves of any module; circular moves stop at this number. */
const longestChain = 16

const parsed = (texts: ReadonlyArray<string>): ReadonlyArray<AddressSteps> =>
  texts.flatMap((text) => {
    const steps = parseAddress(text)
    return steps === undefined ? [] : [steps]
  })

const nameOf = (steps: AddressSteps) => steps.map(({ name }) => name).join(".")

/** The address after a move of `from` to `to`; an instance key moves with it. */
const movedTo = (from: AddressSteps, to: AddressSteps, address: AddressSteps): AddressSteps => {
  const key = address[from.length - 1]?.key
  const target = to.map((step, at) => (at === to.length - 1 && step.key === undefined ? { ...step, key } : step))
  return [...target, ...address.slice(from.length)]
}

/** The sorted addresses that the module neither declares nor covers with a `moved` or `removed` block. */
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
