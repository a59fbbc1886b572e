/** What is there before anything was said. */
export const Welcome = () => <p>What is to be done?</p>;
