import { expect, test } from "bun:test"
import { keptHandlers } from "../../actors/KeptHandlers.ts"

const counted = () => {
  const built: Array<string> = []
  const handlersOf = keptHandlers((id: string) => {
    built.push(id)
    return { id }
  })
  return { built, handlersOf }
}

const others = (count: number) => Array.from({ length: count }, (_, index) => `other-${index}`)

test("the handlers of a record are built once for consecutive commands, and belong to that record", () => {
  const { built, handlersOf } = counted()
  const first = handlersOf("a")
  expect(handlersOf("b")).toEqual({ id: "b" })
  expect(handlersOf("a")).toBe(first)
  expect(built).toEqual(["a", "b"])
})

test("a record in use keeps its handlers among many others", () => {
  const { built, handlersOf } = counted()
  for (const id of others(1000)) {
    handlersOf("a")
    handlersOf(id)
  }
  expect(built.filter((id) => id === "a")).toHaveLength(1)
})

test("the handlers of records that are no longer used are dropped", () => {
  const { built, handlersOf } = counted()
  handlersOf("a")
  for (const id of others(200)) handlersOf(id)
  handlersOf("a")
  expect(built.filter((id) => id === "a")).toHaveLength(2)
})
