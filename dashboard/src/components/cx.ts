// Joins class names, leaving out those that do not apply.

export const cx = (...names: readonly (string | false | null | undefined)[]): string => names.filter(Boolean).join(' ')
