/** Records per generation. The handlers of one take some kilobytes. */
const generationSize = 64

/**
 * Keeps the handlers of the most recently used records: building them costs a few per cent of a command, and many commands follow
 * another one to the same record. Handlers hold no state, so it does not matter how long they are kept.
 *
 * There are two generations: a record that is used while it is in the earlier one moves to the recent one, and when that is full,
 * it becomes the earlier one.
 */
export const keptHandlers = <Handlers>(build: (id: string) => Handlers): ((id: string) => Handlers) => {
  let recent = new Map<string, Handlers>()
  let earlier = new Map<string, Handlers>()
  return (id) => {
    const known = recent.get(id)
    if (known !== undefined) return known
    const handlers = earlier.get(id) ?? build(id)
    if (recent.size >= generationSize) {
      earlier = recent
      recent = new Map()
    }
    recent.set(id, handlers)
    return handlers
  }
}
