/** @returns {string | undefined} the mutant that Stryker tries now, or undefined while it sees which tests reach which */
export const activeMutant = () => process.env.__STRYKER_ACTIVE_MUTANT__;
