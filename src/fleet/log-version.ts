// What two machines of a fleet must agree on. Both stand at the head of the log, and whoever has less is refused.

/** Of entries: tables and columns that rows may have, and what a contract may name. 2: a brief that lies beside its entry. */
export const FORMAT = 2
/** Of decisions: two machines with different ideas of what overlaps would grant twice. Raised with any change of `scopes/` or `claims/` that decides otherwise. */
export const RULES = 1
