import { ownershipContract } from '../testing/ownership-contract.ts';
import { LocalOwnership } from './ownership.ts';

ownershipContract('claims within one process', () => new LocalOwnership());
