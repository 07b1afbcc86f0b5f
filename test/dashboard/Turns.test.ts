import { describe, expect, test } from "bun:test"
import { Turns } from "../../src/dashboard/api/Turns.ts"

/** Simulates a page. The page's clock advances with its work, and queued tasks run on request. */
const page = () => {
  const tasks: Array<() => void> = []
  let at = 0
  return {
    clock: { now: () => at, later: (run: () => void) => void tasks.push(run) },
    pass: (ms: number) => {
      at += ms
    },
    /** Runs the next task, and returns false if there is none. */
    task: () => {
      const run = tasks.shift()
      run?.()
      return run !== undefined
    }
  }
}

describe("turns", () => {
  test("queued work runs in order of arrival, and blocks the page for at most one slice", () => {
    const { clock, pass, task } = page()
    const turns = new Turns(clock)
    const done: Array<number> = []
    for (let index = 0; index < 10; index += 1)
      turns.add(() => {
        done.push(index)
        pass(3)
      })
    expect(done).toEqual([])
    const slices: Array<number> = []
    while (task()) slices.push(done.length)
    expect(slices).toEqual([3, 6, 9, 10])
    expect(done).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  test("work that is queued later runs after the earlier work", () => {
    const { clock, task } = page()
    const turns = new Turns(clock)
    const done: Array<string> = []
    turns.add(() => {
      done.push("first")
      turns.add(() => done.push("from the first"))
    })
    while (task());
    turns.add(() => done.push("after a rest"))
    expect(task()).toBe(true)
    expect(done).toEqual(["first", "from the first", "after a rest"])
  })

  test("queued work that has been cleared never runs, even within a slice", () => {
    const { clock, task } = page()
    const turns = new Turns(clock)
    const done: Array<string> = []
    turns.add(() => {
      done.push("first")
      turns.clear()
    })
    turns.add(() => done.push("cleared"))
    while (task());
    expect(done).toEqual(["first"])
    turns.add(() => done.push("next"))
    while (task());
    expect(done).toEqual(["first", "next"])
  })
})
