import { LocalOwnership } from './ownership.ts';
import { ownershipContract } from './testing/ownership-contract.ts';

ownershipContract('claims within one process', () => new LocalOwnership());
