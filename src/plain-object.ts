// Whether what came from outside is an object as JSON has them: neither nothing nor a list.

export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
