/** Records per generation. The handlers of one take some kilobytes. */
const generationSize = 64

/**
 * Keeps the handlers of the records that were used last. Building them takes longer than many a command, and most commands follow
 * another one to the same record. Handlers hold no state, so it does not matter how long they are kept.
 *
 * There are two generations: a record that is used while it is in the earlier one moves to the recent one, and when that is full,
 * it becomes the earlier one.
 */
export const keptHandlers = <Id extends string, Handlers>(build: (id: Id) => Handlers): ((id: Id) => Handlers) => {
  let recent = new Map<Id, Handlers>()
  let earlier = new Map<Id, Handlers>()
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
