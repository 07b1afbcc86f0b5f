import { type Identifier, type Node, type SourceFile, SyntaxKind } from "typescript/unstable/ast"
import {
  isArrayLiteralExpression,
  isArrowFunction,
  isAsExpression,
  isAssignmentOperator,
  isAwaitExpression,
  isBinaryExpression,
  isBindingElement,
  isBlock,
  isCallExpression,
  isCallOrNewExpression,
  isCaseBlock,
  isCatchClause,
  isClassLikeDeclaration,
  isDeleteExpression,
  isElementAccessExpression,
  isForInStatement,
  isForOfStatement,
  isForStatement,
  isFunctionDeclaration,
  isFunctionLikeDeclaration,
  isIdentifier,
  isNonNullExpression,
  isObjectLiteralExpression,
  isParameterDeclaration,
  isParenthesizedExpression,
  isPostfixUnaryExpression,
  isPrefixUnaryExpression,
  isPropertyAccessExpression,
  isPropertyAssignment,
  isSatisfiesExpression,
  isSourceFile,
  isSpreadAssignment,
  isSpreadElement,
  isTemplateExpression,
  isTypeNode,
  isVariableDeclaration,
  isYieldExpression
} from "typescript/unstable/ast/is"

/** Code that may use a value that another fiber has replaced in the meantime. */
export interface StaleRead {
  readonly line: number
  readonly shape: "adds across a yield" | "reads before a yield" | "writes what it read before a yield"
}

interface Write {
  readonly node: Node
  readonly by: Node
  /** True if the variable is assigned a new value, rather than its current value being modified. */
  readonly replaces: boolean
  /** The written value, if it is a literal. */
  readonly literal: string | undefined
}

interface Variable {
  /** The function that declares the variable, or the file if it is declared at the top level. */
  readonly owner: Node
  readonly writes: Array<Write>
  readonly reads: Array<Node>
}

/** The methods that add an element to an array, a Map or a Set. */
const adding = new Set(["push", "unshift", "splice", "fill", "set", "add"])
const changing = new Set([...adding, "pop", "shift", "delete", "clear", "sort", "reverse"])

const literals = new Set([SyntaxKind.TrueKeyword, SyntaxKind.FalseKeyword, SyntaxKind.NullKeyword])
const choosing = new Set([
  SyntaxKind.AmpersandAmpersandToken,
  SyntaxKind.BarBarToken,
  SyntaxKind.QuestionQuestionToken,
  SyntaxKind.CommaToken
])

const pauses = (node: Node): boolean => isYieldExpression(node) || isAwaitExpression(node)

const functionOf = (node: Node): Node => {
  let at = node.parent
  while (!isFunctionLikeDeclaration(at) && !isSourceFile(at)) at = at.parent
  return at
}

/** Lists the nodes below `node` in order, without types. Skips function bodies, because they run at a different time. */
const evaluated = (node: Node): ReadonlyArray<Node> => {
  const nodes: Array<Node> = []
  const visit = (child: Node) => {
    if (isTypeNode(child)) return
    nodes.push(child)
    if (!isFunctionLikeDeclaration(child)) child.forEachChild(visit)
  }
  node.forEachChild(visit)
  return nodes
}

/** Returns the `a` of `a.b[c].d`, including inside brackets and assertions. */
const rootOf = (node: Node): Node =>
  isPropertyAccessExpression(node) ||
  isElementAccessExpression(node) ||
  isParenthesizedExpression(node) ||
  isNonNullExpression(node) ||
  isAsExpression(node) ||
  isSatisfiesExpression(node)
    ? rootOf(node.expression)
    : node

const opensScope = (node: Node): boolean =>
  isFunctionLikeDeclaration(node) ||
  isBlock(node) ||
  isForStatement(node) ||
  isForOfStatement(node) ||
  isForInStatement(node) ||
  isCaseBlock(node) ||
  isCatchClause(node) ||
  isClassLikeDeclaration(node)

/** Returns true if the identifier refers to a variable, not to a property or a declaration. */
const isReference = (node: Identifier): boolean => {
  const { parent } = node
  if (isPropertyAccessExpression(parent)) return parent.expression === node
  if (
    isPropertyAssignment(parent) ||
    isVariableDeclaration(parent) ||
    isParameterDeclaration(parent) ||
    isBindingElement(parent)
  ) {
    return parent.initializer === node
  }
  if (isArrowFunction(parent)) return parent.body === node
  return !isFunctionLikeDeclaration(parent) && !isClassLikeDeclaration(parent)
}

/** Finds the variables that the file declares, by each identifier that refers to one. */
const variablesOf = (file: SourceFile): ReadonlyMap<Node, Variable> => {
  const scopes = new Map<Node, Map<string, Variable>>()
  const references: Array<Identifier> = []
  const declare = (name: Node, scope: Node) => {
    if (!isIdentifier(name)) {
      name.forEachChild((element) => {
        if (isBindingElement(element) && element.name !== undefined) declare(element.name, scope)
      })
      return
    }
    const owner = isFunctionLikeDeclaration(scope) || isSourceFile(scope) ? scope : functionOf(scope)
    const names = scopes.get(scope) ?? new Map<string, Variable>()
    scopes.set(scope, names.set(name.text, { owner, writes: [], reads: [] }))
  }
  const visit = (node: Node, outer: Node) => {
    if (isTypeNode(node)) return
    const scope = opensScope(node) ? node : outer
    if (isVariableDeclaration(node) || isParameterDeclaration(node)) declare(node.name, scope)
    if (isFunctionDeclaration(node) && node.name !== undefined) declare(node.name, outer)
    if (isIdentifier(node) && isReference(node)) references.push(node)
    node.forEachChild((child) => visit(child, scope))
  }
  visit(file, file)
  const found = new Map<Node, Variable>()
  for (const reference of references) {
    let scope = reference.parent
    while (!isSourceFile(scope) && scopes.get(scope)?.has(reference.text) !== true) scope = scope.parent
    const variable = scopes.get(scope)?.get(reference.text)
    if (variable !== undefined) found.set(reference, variable)
  }
  return found
}

/**
 * Returns true if the call's result is yielded, which means that the call returns an Effect rather than being a method of an
 * array, a Map or a Set.
 */
const isYielded = (call: Node): boolean => {
  let at = call
  while (isPropertyAccessExpression(at.parent) || (isCallExpression(at.parent) && at.parent.expression === at)) {
    at = at.parent
  }
  return pauses(at.parent)
}

/** Returns the expression that this node writes to. */
const targetOf = (node: Node): Node | undefined => {
  if (isBinaryExpression(node)) return isAssignmentOperator(node.operatorToken.kind) ? node.left : undefined
  if (isPostfixUnaryExpression(node)) return node.operand
  if (isPrefixUnaryExpression(node)) {
    const steps = node.operator === SyntaxKind.PlusPlusToken || node.operator === SyntaxKind.MinusMinusToken
    return steps ? node.operand : undefined
  }
  if (isDeleteExpression(node)) return node.expression
  if (!isCallExpression(node) || !isPropertyAccessExpression(node.expression)) return undefined
  const { expression, name } = node.expression
  return changing.has(name.text) && !isYielded(node) ? expression : undefined
}

/** Records where each variable is written and read. */
const noteUses = (file: SourceFile, variables: ReadonlyMap<Node, Variable>) => {
  const onlyWritten = new Set<Node>()
  const visit = (node: Node) => {
    const target = targetOf(node)
    if (target !== undefined) {
      const root = rootOf(target)
      const literal = isBinaryExpression(node) && literals.has(node.right.kind) ? node.right.getText() : undefined
      const replaces = root === target && !isCallExpression(node)
      variables.get(root)?.writes.push({ node, by: functionOf(node), replaces, literal })
      // `a += b` and `a++` also read the variable.
      const readsToo = isBinaryExpression(node) && node.operatorToken.kind !== SyntaxKind.EqualsToken
      if (!readsToo && !isPostfixUnaryExpression(node) && !isPrefixUnaryExpression(node)) onlyWritten.add(root)
    }
    node.forEachChild(visit)
  }
  visit(file)
  for (const [node, variable] of variables) if (!onlyWritten.has(node)) variable.reads.push(node)
}

/** Returns the parts of `parent` that are evaluated before `child` and used after it. */
const partsBefore = (parent: Node, child: Node): ReadonlyArray<Node> => {
  if (isBinaryExpression(parent)) {
    const { kind } = parent.operatorToken
    return child !== parent.right || choosing.has(kind) || isAssignmentOperator(kind) ? [] : [parent.left]
  }
  if (isElementAccessExpression(parent)) return child === parent.expression ? [] : [parent.expression]
  const parts: ReadonlyArray<Node> = isCallOrNewExpression(parent)
    ? (parent.arguments ?? [])
    : isArrayLiteralExpression(parent)
      ? parent.elements
      : isObjectLiteralExpression(parent)
        ? parent.properties
        : isTemplateExpression(parent)
          ? parent.templateSpans
          : []
  return parts.slice(0, Math.max(0, parts.indexOf(child)))
}

/**
 * Finds expressions that touch shared state and yield in the wrong order. A value that a generator or an async function evaluates
 * before a yield may be outdated after it, because other fibers run in between:
 * - `list.push(yield* a)`, `map.set(key, yield* a)`, `sum += yield* a`: `list`, `map` and `sum` are evaluated before the
 *   yield
 * - `[...list, yield* a]`, `f(count, yield* a)`, if another function changes `list` or `count`
 * - `map.get(key) ?? (yield* a)` or `if (value === undefined)`, then a yield and a write, without another read in between. State
 *   is shared if another function changes it. A flag to which only one literal is ever written cannot lose a write.
 */
export const staleReads = (file: SourceFile): ReadonlyArray<StaleRead> => {
  const variables = variablesOf(file)
  noteUses(file, variables)
  const found = new Map<string, StaleRead>()
  const report = (node: Node, shape: StaleRead["shape"]) => {
    const line = file.text.slice(0, node.getStart(file)).split("\n").length
    found.set(`${line} ${shape}`, { line, shape })
  }

  const isShared = ({ owner, writes }: Variable) => writes.some(({ by }) => by !== owner)
  const isReplaced = ({ owner, writes }: Variable) => writes.some(({ by, replaces }) => replaces && by !== owner)
  /**
   * Returns true if this expression uses the identifier's current value. If code only passes a list on, the receiver can
   * still read the list later.
   */
  const keeps = (node: Node) => {
    const variable = variables.get(node)
    if (variable === undefined || !isShared(variable)) return false
    const { parent } = node
    const isOpened = isSpreadElement(parent) || isSpreadAssignment(parent)
    return isReplaced(variable) || isOpened || rootOf(parent) === node
  }

  /** Checks every expression that contains a yield. */
  const inExpression = (pause: Node) => {
    for (let child = pause; !isFunctionLikeDeclaration(child.parent) && !isBlock(child.parent); child = child.parent) {
      const { parent } = child
      if (isSourceFile(parent)) return
      if (isBinaryExpression(parent) && child === parent.right) {
        const { kind } = parent.operatorToken
        if (kind !== SyntaxKind.EqualsToken && isAssignmentOperator(kind)) report(parent, "adds across a yield")
      }
      if (isCallExpression(parent) && child !== parent.expression && isPropertyAccessExpression(parent.expression)) {
        const { expression, name } = parent.expression
        const variable = variables.get(rootOf(expression))
        if (variable !== undefined && adding.has(name.text)) report(parent, "adds across a yield")
        else if (variable !== undefined && isReplaced(variable)) report(parent, "reads before a yield")
      }
      for (const part of partsBefore(parent, child)) {
        if ([part, ...evaluated(part)].some(keeps)) report(parent, "reads before a yield")
      }
    }
  }

  /** Finds a read, a yield and a write of one variable in one function. */
  const acrossStatements = (variable: Variable) => {
    const [first] = variable.writes
    if (first?.literal !== undefined && variable.writes.every(({ literal }) => literal === first.literal)) return
    for (const { by, node } of variable.writes) {
      if (by === variable.owner) continue
      const yields = evaluated(by).filter((one) => pauses(one) && one.end <= node.end)
      const lastYield = Math.max(-1, ...yields.map(({ end }) => end))
      const reads = variable.reads.filter((read) => read.pos < node.end && functionOf(read) === by)
      const isOutdated = reads.some(({ pos }) => pos < lastYield) && !reads.some(({ pos }) => pos >= lastYield)
      if (isOutdated) report(node, "writes what it read before a yield")
    }
  }

  const visit = (node: Node) => {
    if (pauses(node)) inExpression(node)
    node.forEachChild(visit)
  }
  visit(file)
  for (const variable of new Set(variables.values())) acrossStatements(variable)
  return [...found.values()].toSorted((one, other) => one.line - other.line)
}
